import { MessageError } from '../errors.ts'
import type { DataMasker, MaskedSpan } from './data-masker.ts'

/** Settings for masking of message content. */
export interface MaskingConfig {
  /**
   * True: user messages are sent only while rules are active. Without rules, for any reason, `send()` rejects with a
   * `MessageError`, reason `masking_unavailable`. One unusable pattern counts as no rules at all.
   *
   * @default false: if rules cannot be loaded, a warning is logged and messages are sent unmasked
   */
  required?: boolean
}

/**
 * Why an agent with masking has no usable rules. The deployment is too old or names no version; the agent has no
 * department; the request failed; the response has another shape; every pattern was rejected, or with
 * `masking.required` one of them; or, with `masking.required`, there are no patterns.
 */
export type MaskingUnavailableReason =
  | 'unsupported_deployment'
  | 'department_missing'
  | 'request_failed'
  | 'invalid_answer'
  | 'patterns_refused'
  | 'no_patterns'

/** Preview of the masking of a text. */
export interface MaskingPreview {
  /** Whether rules are active. Without them the text stays unchanged. */
  readonly isActive: boolean
  /** True where masking is required and no rules are active: the text is not sent, and must not be stored. */
  readonly isBlocked?: true
  /** The text as it would be sent. */
  readonly content: string
  /** The replacements: part, rule and offset, from left to right. */
  readonly spans: readonly MaskedSpan[]
}

/** The loaded state of an agent's rules; `unknown` if the service did not answer. */
export type FoundRules = DataMasker | 'none' | 'unknown'

/**
 * The active masking rules of an agent. `load-masker.ts` loads them, a separate file in a page.
 */
export class Masking {
  readonly #isRequired: boolean
  readonly #onMissing: (() => void) | undefined
  #masker: DataMasker | undefined

  /** @param onMissing called when a message was refused for want of rules */
  constructor({ required = false }: MaskingConfig, onMissing?: () => void) {
    this.#isRequired = required
    this.#onMissing = onMissing
  }

  /** Applies a loaded state. For `unknown`, the earlier rules stay active: more is hidden rather than less. */
  settle(found: FoundRules): void {
    if (found !== 'unknown') this.#masker = found === 'none' ? undefined : found
  }

  /**
   * The content of a message as it may be sent.
   *
   * @throws {MessageError} reason `masking_unavailable` when rules are required and none are active
   */
  maskOutgoing(content: string, messageId: string): string {
    if (this.#masker) return this.#masker.mask(content)
    if (!this.#isRequired) return content
    this.#onMissing?.()
    throw new MessageError(
      'The message was not sent: masking is required, and the service returned no usable rules. The log has the reason.',
      'masking_unavailable',
      { messageId },
    )
  }

  /** The masked text; without rules, the text unchanged. */
  mask(content: string): string {
    return this.#masker?.mask(content) ?? content
  }

  /** What {@link mask} would do. */
  preview(content: string): MaskingPreview {
    if (!this.#masker) return { isActive: false, ...(this.#isRequired && { isBlocked: true }), content, spans: [] }
    return { isActive: true, content: this.#masker.mask(content), spans: this.#masker.preview(content) }
  }
}
