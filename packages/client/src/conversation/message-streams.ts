import { PERSONA } from '@aiagent/protocol'
import type { Message } from '../log/message.ts'

/** The open iterators over the agent's messages. */
export class MessageStreams {
  #open: Set<MessageStream> | undefined

  /** An iterator over every message from now on. See `AiAgent.messages()`. */
  open(signal?: AbortSignal): AsyncIterableIterator<Message> {
    this.#open ??= new Set()
    const open = this.#open
    const stream: MessageStream = new MessageStream(signal, () => open.delete(stream))
    if (!signal?.aborted) open.add(stream)
    return stream
  }

  /** A message has arrived; only those of the agent are passed on. */
  push(message: Message): void {
    if (message.persona !== PERSONA.AGENT) return
    for (const stream of this.#open ?? []) stream.push(message)
  }

  /** Drops the messages that have not been read yet. */
  forgetUser(): void {
    for (const stream of this.#open ?? []) stream.clear()
  }

  /** No more messages will arrive: each iterator ends after its unread messages. */
  end(): void {
    for (const stream of this.#open ?? []) stream.end()
  }
}

/**
 * Stores messages until they are read, and readers until a message arrives; one of the two lists is always empty.
 *
 * Unread messages have no limit: dropping some would falsify the conversation, and users and agents write slowly. To end a
 * stream that is no longer read, use `return()` or its signal.
 */
class MessageStream implements AsyncIterableIterator<Message> {
  readonly #signal: AbortSignal | undefined
  readonly #onEnd: () => void
  #held: Message[] = []
  #pulls: ((result: IteratorResult<Message, undefined>) => void)[] = []
  #isOver = false

  constructor(signal: AbortSignal | undefined, onEnd: () => void) {
    this.#signal = signal
    this.#onEnd = onEnd
    if (signal?.aborted) this.#isOver = true
    else signal?.addEventListener('abort', this.#abort)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Message, undefined>> {
    const message = this.#held.shift()
    if (message) return Promise.resolve({ done: false, value: message })
    if (this.#isOver) return Promise.resolve(OVER)
    return new Promise(resolve => this.#pulls.push(resolve))
  }

  return(): Promise<IteratorResult<Message, undefined>> {
    this.#abort()
    return Promise.resolve(OVER)
  }

  push(message: Message): void {
    const pull = this.#pulls.shift()
    if (pull) pull({ done: false, value: message })
    else this.#held.push(message)
  }

  clear(): void {
    this.#held = []
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#signal?.removeEventListener('abort', this.#abort)
    this.#onEnd()
    for (const pull of this.#pulls.splice(0)) pull(OVER)
  }

  /** A reader that leaves receives nothing more, and its unread messages are dropped. */
  readonly #abort = () => {
    this.#held = []
    this.end()
  }
}

const OVER: IteratorReturnResult<undefined> = /* @__PURE__ */ Object.freeze({ done: true, value: undefined })
