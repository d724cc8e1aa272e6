import { MessageError } from '../errors.ts'
import type { DataMasker, MaskedSpan } from './data-masker.ts'

/** How content that a service wants hidden is dealt with. */
export interface MaskingConfig {
  /**
   * True: what a person writes is sent only while rules are active. Without them, whatever the reason, `send()` rejects
   * with a `MessageError`, reason `masking_unavailable`. A pattern that cannot be used counts as no rules at all.
   *
   * @default false: where rules cannot be had, a warning is logged and messages go out as they were written
   */
  required?: boolean
}

/**
 * Why an agent that masks content has no usable rules: the deployment is too old or names no version, the agent belongs to
 * no department, the request failed, the answer has another shape, or `masking.required` is set and a pattern was refused.
 */
export type MaskingUnavailableReason =
  | 'unsupported_deployment'
  | 'department_missing'
  | 'request_failed'
  | 'invalid_answer'
  | 'patterns_refused'

/** What masking makes of a text. */
export interface MaskingPreview {
  /** Whether rules are active. Without them a text stays as it is. */
  readonly isActive: boolean
  /** The text as it would be sent. */
  readonly content: string
  /** What would be replaced, by which rule, and where; from left to right. */
  readonly spans: readonly MaskedSpan[]
}

/** What was found out about an agent's rules; `unknown` where the service did not answer. */
export type FoundRules = DataMasker | 'none' | 'unknown'

/**
 * The rules that an agent's content is masked by. It owns which are active; `startup/load-masking.ts` brings them, since
 * they come with the other facts of the start and their code loads only where a service masks.
 */
export class Masking {
  readonly #isRequired: boolean
  #masker: DataMasker | undefined

  constructor({ required = false }: MaskingConfig) {
    this.#isRequired = required
  }

  /** Takes what was found out. Where that is nothing, the rules from before go on: they hide more rather than less. */
  settle(found: FoundRules): void {
    if (found !== 'unknown') this.#masker = found === 'none' ? undefined : found
  }

  /**
   * What may be sent of a message's content.
   *
   * @throws {MessageError} reason `masking_unavailable` where rules are required and none are active
   */
  maskOutgoing(content: string, messageId: string): string {
    if (this.#masker) return this.#masker.mask(content)
    if (!this.#isRequired) return content
    throw new MessageError(
      'The message was not sent: masking is required, and the service gave no rules that can be used. The log says why.',
      'masking_unavailable',
      { messageId },
    )
  }

  /** The text with everything replaced that the rules find; without rules, the text. */
  mask(content: string): string {
    return this.#masker?.mask(content) ?? content
  }

  /** What {@link mask} would do. */
  preview(content: string): MaskingPreview {
    if (!this.#masker) return { isActive: false, content, spans: [] }
    return { isActive: true, content: this.#masker.mask(content), spans: this.#masker.preview(content) }
  }
}
