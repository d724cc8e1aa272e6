import type { LoadedAgent } from '../facts.ts'
import { getMaskingPatterns } from '../rest/service-calls.ts'
import type { AgentScope } from '../scope.ts'
import { createDataMasker } from './data-masker.ts'
import type { FoundRules, MaskingUnavailableReason } from './masking.ts'

/**
 * Loads the masking rules of an agent that masks content (FLOW-19). Without rules a warning gives the reason, and
 * `MaskingConfig.required` decides what follows.
 *
 * @param onUnavailable called with the reason why there are no rules
 * @throws {ApiError} when the patterns cannot be loaded
 */
export async function loadMasker(
  { deployment, api, agent }: LoadedAgent,
  scope: AgentScope<'maskingPatternsRefused'>,
  onUnavailable: (reason: MaskingUnavailableReason) => void,
  signal: AbortSignal,
): Promise<FoundRules> {
  const { config, logger } = scope
  // Then one unusable pattern makes all rules unusable.
  const required = config.masking.required === true
  const without = (reason: MaskingUnavailableReason, warning?: string): 'none' => {
    if (warning) logger.warn(warning)
    onUnavailable(reason)
    return 'none'
  }
  if (!isMaskingSupported(deployment.version))
    return without(
      'unsupported_deployment',
      'This agent masks content, and its deployment is too old for it or names no version.',
    )
  const departmentId = String(agent.departmentId ?? '').trim()
  if (departmentId === '')
    return without(
      'department_missing',
      'This agent masks content but has no department, so there are no rules for it.',
    )
  const masker = createDataMasker(await api.call(getMaskingPatterns, { departmentId, signal }))
  const { refused, ruleCount } = masker
  if (refused.length > 0) {
    for (const { name, reason } of refused) logger.warn(`The masking pattern "${name}" is not used: it ${reason}.`)
    scope.emit('maskingPatternsRefused', () => ({ patterns: refused }))
    if (required || ruleCount === 0) return without('patterns_refused')
  }
  if (required && ruleCount === 0)
    return without('no_patterns', 'Masking is required, and the service returned no masking patterns.')
  return ruleCount > 0 ? masker : 'none'
}

/** The first release of the service with masking patterns. */
const FIRST_RELEASE = [21, 22, 2] as const

/** A version number of a release: two of its three parts may be missing. */
const RELEASE = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/

/**
 * Whether a deployment has masking patterns.
 *
 * @param version read leniently: the first number that looks like a version, without anything after a third part. False if
 *   there is none.
 */
export function isMaskingSupported(version: string | null | undefined): boolean {
  const release = RELEASE.exec(version ?? '')
  return release !== null && isFirstReleaseOrLater(release.slice(1))
}

function isFirstReleaseOrLater(parts: readonly (string | undefined)[]): boolean {
  for (const [index, needed] of FIRST_RELEASE.entries()) {
    const part = Number(parts[index] ?? 0)
    if (part !== needed) return part > needed
  }
  return true
}
