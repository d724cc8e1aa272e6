import type { LoadedAgent } from '../api/agent-facts.ts'
import type { Masking } from '../masking/masking.ts'
import { loadSteps } from './agent-loader.ts'
import type { AgentScope } from './agent-scope.ts'

/** Loads the signed-in user and the masking rules. Neither fails: without them the agent works with less. */
export class UserLoader {
  readonly #scope: AgentScope
  readonly #masking: Masking
  /** Identifies the latest load; results of older loads are discarded. */
  #current: object | undefined
  #rulesMissing = false

  constructor(scope: AgentScope, masking: Masking) {
    this.#scope = scope
    this.#masking = masking
    scope.userState.own(this)
  }

  async load(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void> {
    const { logger, config, emit, facts } = this.#scope
    const current = {}
    this.#current = current
    const { fetchUser, loadMasker } = await loadSteps()
    const required = config.masking.required === true
    const [user, rules] = await Promise.all([
      fetchUser(loaded, this.#scope, signal),
      loadMasker(loaded, { required, logger, emit }, signal),
    ])
    if (this.#current !== current) return
    facts.user = user
    this.#rulesMissing = rules === 'unknown'
    this.#masking.settle(rules)
  }

  /** Loads again when the masking rules could not be loaded. */
  async retryMissingRules(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void> {
    if (this.#rulesMissing) await this.load(loaded, signal)
  }

  forgetUser(): void {
    this.#current = undefined
    this.#rulesMissing = false
    this.#masking.settle('none')
  }
}
