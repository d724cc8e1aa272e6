import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import type { Deployment } from '../api/agent-facts.ts'
import { type DeploymentCall, findDeploymentInfo } from '../api/deployment-info.ts'
import { abortedError } from '../errors.ts'
import { untilAborted } from '../util/abort.ts'
import { JoinedTask } from '../util/joined-task.ts'
import { type AgentScope, rateLimitReporter } from './agent-scope.ts'

const DEPLOYMENT_ABORTED = (signal: AbortSignal) => abortedError('getDeploymentInfo()', signal)
const DETAILS_ABORTED = (signal: AbortSignal) => abortedError('getAgentDetails()', signal)

/** What needs the calls whose code loads later. */
interface LoaderSteps {
  openDeployment(deployment: DeploymentInfo): Deployment
  fetchAgent(deployment: Deployment, signal: AbortSignal): Promise<AgentDetails>
}

interface AgentLoaderOptions {
  readonly scope: AgentScope
  readonly late: {
    /** What makes the first call, or loads it. */
    readonly deploymentCall: DeploymentCall | (() => Promise<DeploymentCall>)
    load(): Promise<LoaderSteps>
  }
}

/** Loads the facts about deployment and agent, each once, also before `initialize()` (OPS-08). */
export class AgentLoader {
  readonly #parts: AgentLoaderOptions
  readonly #deployment = new JoinedTask<Deployment>(DEPLOYMENT_ABORTED)
  readonly #details = new JoinedTask<AgentDetails>(DETAILS_ABORTED)

  constructor(parts: AgentLoaderOptions) {
    this.#parts = parts
  }

  /** Where the deployment's services are: from memory, cache or network. */
  async loadDeployment(signal?: AbortSignal): Promise<Deployment> {
    const { facts } = this.#parts.scope
    facts.deployment ??= await this.#deployment.join(async inner => {
      const { config, environment } = this.#parts.scope
      const options = { environment, signal: inner, onRateLimited: rateLimitReporter(this.#parts.scope) }
      // Together: the chunk loads while the first call is in flight.
      const [info, late] = await Promise.all([
        findDeploymentInfo(config.endpoint, config.cache, options, this.#parts.late.deploymentCall),
        this.#parts.late.load(),
      ])
      return late.openDeployment(info)
    }, signal)
    return facts.deployment
  }

  /** The details of the configured agent: from memory, cache or network. */
  async loadAgentDetails(signal?: AbortSignal): Promise<AgentDetails> {
    const { facts } = this.#parts.scope
    facts.agent ??= await this.#details.join(async inner => {
      const deployment = await this.loadDeployment(inner)
      const late = await this.#parts.late.load()
      // A sign-out meanwhile: a token that is requested now would be the next user's.
      inner.throwIfAborted()
      return Object.freeze(await untilAborted(late.fetchAgent(deployment, inner), inner))
    }, signal)
    return facts.agent
  }

  /** Rejects what is in flight with the given error. */
  abort(reason: unknown): void {
    this.#deployment.abort(reason)
    this.#details.abort(reason)
  }
}
