import { CAPABILITY, type ClientMessage, encodeReceipt, PERSONA } from '@aiagent/protocol'
import type { Clock } from '../clock.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { SessionChange } from '../world/session-change.ts'
import type { SessionRecord } from '../world/session-record.ts'

export interface ReceiptParts {
  readonly record: SessionRecord
  readonly clock: Clock
  readonly settings: EmulatorSettings
  isStruckBy(kind: 'lose-receipts'): boolean
  commit(...changes: readonly SessionChange[]): void
}

/** Whether it is a frame that the service accepts for the conversation, and acknowledges where it has an id. */
export const isAccountable = ({ persona }: ClientMessage): boolean =>
  persona === PERSONA.CUSTOMER || persona === PERSONA.SYSTEM

/** Accepts the frames of a session: records each, acknowledges those with an id, and tells repetitions apart. */
export class Receipts {
  readonly #parts: ReceiptParts
  readonly #send: (text: string) => void

  constructor(parts: ReceiptParts, send: (text: string) => void) {
    this.#parts = parts
    this.#send = send
  }

  /** The id by which a frame is acknowledged; undefined without the capability. */
  idOf(message: ClientMessage): string | undefined {
    const { capabilities } = this.#parts.settings
    return capabilities.includes(CAPABILITY.RECEIPTS) && isAccountable(message) ? message.messageId : undefined
  }

  /** Whether a frame with the same id was accepted before. */
  isRepeated(message: ClientMessage): boolean {
    const id = this.idOf(message)
    return id !== undefined && this.#parts.record.acceptedIds.has(id)
  }

  /** Records and acknowledges a frame. Returns false for a repetition, which must not be processed. */
  accept(message: ClientMessage): boolean {
    const { clock, commit, isStruckBy } = this.#parts
    const id = this.idOf(message)
    const duplicate = this.isRepeated(message)
    const { messageId: _, ...plain } = message
    commit({
      type: 'accepted',
      at: clock.now(),
      message: id === undefined ? plain : message,
      duplicate,
    })
    if (id !== undefined && !isStruckBy('lose-receipts')) this.#send(encodeReceipt(id, duplicate))
    return !duplicate
  }
}
