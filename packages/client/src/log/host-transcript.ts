import { Opaque } from '../util/values.ts'
import type { TranscriptConfig, TranscriptEntry, TranscriptOptions, TranscriptRow } from './entry.ts'
import type { Message } from './message.ts'
import { MessageLog } from './message-log.ts'

/** A transcript that the host app keeps by itself: messages in order, with the settings and filters of that of an agent. */
export class Transcript extends Opaque {
  readonly #log: MessageLog

  constructor(config: TranscriptConfig = {}) {
    super()
    this.#log = new MessageLog(config)
  }

  /** Changes some of the settings. */
  updateConfig(config: TranscriptConfig): void {
    this.#log.updateConfig(config)
  }

  /**
   * Records a message that was sent or received.
   *
   * @param timestamp used where the message has none, in milliseconds since the epoch
   * @param type kind of a received message, as its handler names it
   * @param size length of the frame's text, in characters
   * @param isRecovered whether it was said while the connection was down
   * @returns the entry, or undefined where the filters keep it out; it is stored only with `enabled`
   */
  record(
    message: Message,
    direction: 'sent' | 'received',
    timestamp: number,
    type?: string,
    size?: number,
    isRecovered?: boolean,
  ): TranscriptEntry | undefined {
    return this.#log.record(message, direction, timestamp, type, size, isRecovered)
  }

  /** The entries, in order. Without options the same frozen list until something changes. */
  get(options?: TranscriptOptions): readonly TranscriptEntry[] {
    return this.#log.entries(options)
  }

  /** The entries as plain data, for storing or sending elsewhere. */
  toJSON(options?: TranscriptOptions): TranscriptRow[] {
    return this.#log.toJSON(options)
  }

  /** How many entries are stored. */
  get size(): number {
    return this.#log.size
  }

  /** Removes every entry. */
  clear(): void {
    this.#log.clear()
  }
}
