import { AiAgent, type AiAgentConfig, type AiAgentInitializeOptions, type Environment } from '@aiagent/client'
import { EVENT_NAMES } from '../../../conformance/event-names.ts'

/** An agent of the library on its own defaults, with nothing printed. */
export function makeAgent(
  endpoint: string,
  config: Partial<AiAgentConfig> = {},
  environment?: Partial<Environment>,
): AiAgent {
  return new AiAgent({ id: 'help', endpoint, enableLogging: false, ...config }, environment)
}

/** An agent with a listener on every event, as in a host that shows and logs all of them. */
export function makeObservedAgent(...parameters: Parameters<typeof makeAgent>): AiAgent {
  const agent = makeAgent(...parameters)
  for (const name of EVENT_NAMES) agent.on(name, () => undefined)
  return agent
}

/** Initializes and connects an agent. */
export async function connected(agent: AiAgent, options?: AiAgentInitializeOptions): Promise<AiAgent> {
  await agent.initialize(options)
  await agent.connect()
  return agent
}
