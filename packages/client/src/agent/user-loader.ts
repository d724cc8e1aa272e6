import type { UserDetails } from '@aiagent/protocol'
import { features } from '#features'
import { usesPortalProfile } from '../contact-center/portal/portal-flow.ts'
import { ApiError } from '../errors.ts'
import type { LoadedAgent } from '../facts.ts'
import type { FoundRules, Masking, MaskingUnavailableReason } from '../masking/masking.ts'
import { feature } from '../platform/feature.ts'
import type { AgentScope } from '../scope.ts'
import { Era } from '../util/era.ts'

/** Loads the signed-in user and the masking rules. Neither fails: without them the agent works with less. */
export class UserLoader {
  readonly #scope: AgentScope
  readonly #masking: Masking
  /** The last load. A newer one, a sign-out and `destroy()` end it. */
  #era: Era | undefined
  #rulesMissing = false

  constructor(scope: AgentScope, masking: Masking) {
    this.#scope = scope
    this.#masking = masking
  }

  async load(loaded: LoadedAgent, signal: AbortSignal | undefined): Promise<void> {
    this.#era?.end()
    const era = new Era()
    this.#era = era
    try {
      const [user, rules] = await era.during(
        inner => Promise.all([fetchUser(loaded, this.#scope, inner), loadRules(loaded, this.#scope, inner)]),
        signal,
      )
      this.#scope.facts.user = user
      this.#rulesMissing = rules === 'unknown'
      this.#masking.settle(rules)
    } catch (error) {
      if (!era.isOver) throw error
    } finally {
      if (this.#era === era) this.#era = undefined
    }
  }

  /** Ends the load in flight: it has no result, and its requests are cancelled. */
  stop(): void {
    this.#era?.end()
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

/** Loads the masking rules of an agent that masks content (FLOW-19). Never fails: a warning gives the reason. */
async function loadRules(
  loaded: LoadedAgent,
  scope: AgentScope<'maskingPatternsRefused' | 'maskingUnavailable'>,
  signal: AbortSignal,
): Promise<FoundRules> {
  if (!loaded.agent.enableDataMasking) return 'none'
  const onUnavailable = (reason: MaskingUnavailableReason, error?: unknown) =>
    scope.emit('maskingUnavailable', () => (error === undefined ? { reason } : { reason, error }))
  try {
    const loadMasker = await feature('masking', features.masking)
    return await loadMasker(loaded, scope, onUnavailable, signal)
  } catch (error) {
    if (!signal.aborted) {
      scope.logger.warn('Could not load the masking patterns.', { error })
      onUnavailable(error instanceof ApiError && error.reason === 'body' ? 'invalid_answer' : 'request_failed', error)
    }
    return 'unknown'
  }
}
