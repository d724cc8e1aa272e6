import { AiAgent, type AiAgentConfig, type Environment } from '@aiagent/client'

/** An agent of the library on its own defaults, with nothing printed. */
export function makeAgent(
  endpoint: string,
  config: Partial<AiAgentConfig> = {},
  environment?: Partial<Environment>,
): AiAgent {
  return new AiAgent({ id: 'help', endpoint, enableLogging: false, ...config }, environment)
}

export async function connectLibrary(...parameters: Parameters<typeof makeAgent>): Promise<AiAgent> {
  const agent = makeAgent(...parameters)
  await agent.initialize()
  await agent.connect()
  return agent
}
