import type { AgentDetails } from '@aiagent/protocol'
import type { Deployment } from '../api/agent-facts.ts'
import { loadDeploymentInfo } from '../api/deployment-info.ts'
import { abortedError } from '../errors.ts'
import { loadModule } from '../platform/load-module.ts'
import { untilAborted } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { rateLimitReporter } from './agent-scope.ts'
import type { AgentLoaderParts } from './load-agent.ts'

const DEPLOYMENT_ABORTED = (signal: AbortSignal) => abortedError('getDeploymentInfo()', signal)
const DETAILS_ABORTED = (signal: AbortSignal) => abortedError('getAgentDetails()', signal)

/** Loads the facts about deployment and agent, each once, also before `initialize()` (OPS-08). */
export class AgentLoader {
  readonly #parts: AgentLoaderParts
  readonly #deployment = new JoinedTask<Deployment>(DEPLOYMENT_ABORTED)
  readonly #details = new JoinedTask<AgentDetails>(DETAILS_ABORTED)

  constructor(parts: AgentLoaderParts) {
    this.#parts = parts
  }

  /** Where the deployment's services are: from memory, cache or network. */
  async loadDeployment(signal?: AbortSignal): Promise<Deployment> {
    const { facts } = this.#parts.scope
    facts.deployment ??= await this.#deployment.join(async inner => {
      const { config, environment } = this.#parts.scope
      const onRateLimited = rateLimitReporter(this.#parts.scope)
      // Together: the chunk loads while the first call is in flight.
      const [info, { openDeployment }] = await Promise.all([
        loadDeploymentInfo(config.endpoint, config.cache, { environment, signal: inner, onRateLimited }),
        loadSteps(),
      ])
      return openDeployment(info, this.#parts)
    }, signal)
    return facts.deployment
  }

  /** The details of the configured agent: from memory, cache or network. */
  async loadAgentDetails(signal?: AbortSignal): Promise<AgentDetails> {
    const { facts } = this.#parts.scope
    facts.agent ??= await this.#details.join(async inner => {
      const deployment = await this.loadDeployment(inner)
      const { fetchAgent } = await loadSteps()
      return Object.freeze(await untilAborted(fetchAgent(deployment, this.#parts, inner), inner))
    }, signal)
    return facts.agent
  }

  /** Rejects what is in flight with the given error. */
  abort(reason: unknown): void {
    this.#deployment.abort(reason)
    this.#details.abort(reason)
  }
}

/** The REST calls and everything that only they use: a separate chunk, since a page is shown before it is used. */
export function loadSteps(): Promise<typeof import('./load-agent.ts')> {
  // Requested with the first call, not after the responses that precede the token request, which reports a failure.
  import('../auth/anonymous-token.ts').catch(() => {})
  return loadModule('load-agent', import('./load-agent.ts'))
}
