import type { AgentDetails, UserDetails } from '@aiagent/protocol'
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
        inner => Promise.all([fetchUser(loaded, this.#scope, inner), loadMasker(loaded, this.#scope, inner)]),
        signal,
      )
      this.#scope.facts.user = user
      this.#rulesMissing = rules === 'unknown'
      this.#masking.settle(rules)
    } catch (error) {
      if (!era.isOver) throw error
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

/**
 * Loads the masking rules of the agent's content, only where they apply (FLOW-19).
 *
 * Never fails: without rules a warning gives the reason, and `MaskingConfig.required` decides what follows.
 */
async function loadMasker(
  { deployment, api, agent }: LoadedAgent,
  { config, logger, emit }: AgentScope<'maskingPatternsRefused' | 'maskingUnavailable'>,
  signal: AbortSignal | undefined,
): Promise<FoundRules> {
  // Then one unusable pattern makes all rules unusable.
  const required = config.masking.required === true
  const onUnavailable = (reason: MaskingUnavailableReason, error?: unknown) =>
    emit('maskingUnavailable', () => (error === undefined ? { reason } : { reason, error }))
  if (!isMaskingSupported(deployment.version, agent)) {
    if (agent.enableDataMasking) {
      logger.warn('This agent masks content, and its deployment is too old for it or names no version.')
      onUnavailable('unsupported_deployment')
    }
    return 'none'
  }
  const departmentId = String(agent.departmentId ?? '').trim()
  if (departmentId === '') {
    logger.warn('This agent masks content but has no department, so there are no rules for it.')
    onUnavailable('department_missing')
    return 'none'
  }
  try {
    // Both are needed, and they are loaded in parallel.
    const [patterns, createDataMasker] = await Promise.all([
      api.getMaskingPatterns({ departmentId, signal }),
      feature('masking', features.masking),
    ])
    const masker = createDataMasker(patterns)
    const { refused, ruleCount } = masker
    if (refused.length > 0) {
      for (const { name, reason } of refused) logger.warn(`The masking pattern "${name}" is not used: it ${reason}.`)
      emit('maskingPatternsRefused', () => ({ patterns: refused }))
      if (required || ruleCount === 0) {
        onUnavailable('patterns_refused')
        return 'none'
      }
    }
    if (required && ruleCount === 0) {
      logger.warn('Masking is required, and the service returned no masking patterns.')
      onUnavailable('no_patterns')
    }
    return ruleCount > 0 ? masker : 'none'
  } catch (error) {
    if (!signal?.aborted) {
      logger.warn('Could not load the masking patterns.', { error })
      onUnavailable(error instanceof ApiError && error.reason === 'body' ? 'invalid_answer' : 'request_failed', error)
    }
    return 'unknown'
  }
}

/** The first release of the service with masking patterns. */
const FIRST_RELEASE = [21, 22, 2] as const

/** A version number of a release: two of its three parts may be missing. */
const RELEASE = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/

/**
 * Whether the content of this agent's chats must be masked: its details request it, and the deployment supports it.
 *
 * @param version of the deployment, read leniently: the first number that looks like a version, without anything after
 *   a third part. False if there is none.
 */
export function isMaskingSupported(
  version: string | null | undefined,
  agent: Pick<AgentDetails, 'enableDataMasking'>,
): boolean {
  const release = RELEASE.exec(version ?? '')
  return release !== null && agent.enableDataMasking === true && isFirstReleaseOrLater(release.slice(1))
}

function isFirstReleaseOrLater(parts: readonly (string | undefined)[]): boolean {
  for (const [index, needed] of FIRST_RELEASE.entries()) {
    const part = Number(parts[index] ?? 0)
    if (part !== needed) return part > needed
  }
  return true
}
