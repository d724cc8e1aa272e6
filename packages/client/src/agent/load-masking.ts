import { ApiError } from '../errors.ts'
import type { LoadedAgent } from '../facts.ts'
import type { FoundRules, MaskingUnavailableReason } from '../masking/masking.ts'
import { isMaskingSupported } from '../masking/masking-support.ts'
import { feature } from '../platform/feature.ts'
import type { AgentScope } from '../scope.ts'

/**
 * Loads the masking rules of the agent's content, only where they apply (FLOW-19).
 *
 * Never fails: without rules a warning gives the reason, and `MaskingConfig.required` decides what follows.
 */
export async function loadMasker(
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
    const [patterns, { createDataMasker }] = await Promise.all([
      api.getMaskingPatterns({ departmentId, signal }),
      feature('masking', () => import('../masking/data-masker.ts')),
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
