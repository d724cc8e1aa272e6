import type { UserDetails } from '@aiagent/protocol'
import { usesPortalProfile } from '../contact-center/portal/profile-mode.ts'
import type { LoadedAgent } from '../facts.ts'
import type { Masking } from '../masking/masking.ts'
import type { AgentScope } from '../scope.ts'
import { loadMasker } from './load-masking.ts'

/** Loads the signed-in user and the masking rules. Neither fails: without them the agent works with less. */
export class UserLoader {
  readonly #scope: AgentScope
  readonly #masking: Masking
  /** The latest load. A newer one, a sign-out and `destroy()` end it. */
  #current: AbortController | undefined
  #rulesMissing = false

  constructor(scope: AgentScope, masking: Masking) {
    this.#scope = scope
    this.#masking = masking
  }

  async load(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void> {
    const { facts } = this.#scope
    this.stop()
    const current = new AbortController()
    this.#current = current
    const abort = () => current.abort(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort)
    try {
      const [user, rules] = await Promise.all([
        fetchUser(loaded, this.#scope, current.signal),
        loadMasker(loaded, this.#scope, current.signal),
      ])
      if (this.#current !== current) return
      facts.user = user
      this.#rulesMissing = rules === 'unknown'
      this.#masking.settle(rules)
    } catch (error) {
      if (this.#current === current) throw error
    } finally {
      signal?.removeEventListener('abort', abort)
      if (this.#current === current) this.#current = undefined
    }
  }

  /** Ends the load in flight: it has no result, and its requests are cancelled. */
  stop(): void {
    const current = this.#current
    this.#current = undefined
    current?.abort()
  }

  /** Loads again when the masking rules could not be loaded. */
  async retryMissingRules(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void> {
    if (this.#rulesMissing) await this.load(loaded, signal)
  }

  forgetUser(): void {
    this.stop()
    this.#rulesMissing = false
    this.#masking.settle('none')
  }
}

/** The signed-in user or customer; null for an anonymous agent, and when the service does not return one (FLOW-06). */
async function fetchUser(
  { api, agent }: LoadedAgent,
  { params }: AgentScope,
  signal: AbortSignal | undefined,
): Promise<UserDetails | null> {
  if (!agent.isAuthenticated) return null
  const isCustomer = usesPortalProfile(agent, params)
  return (isCustomer ? api.getCustomerDetails({ signal }) : api.getUserDetails({ signal })).catch(() => null)
}
