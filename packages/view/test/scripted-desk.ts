import type { ConversationView } from '../src/conversation-snapshot.ts'
import type { LiveDesk, LiveDeskMessage, LiveDeskOptions, OpenLiveDesk } from '../src/live-desk.ts'

/** A desk that a test plays: what was sent to it, and what it says. It outlives its page, as a vendor's chat does. */
export class ScriptedDesk {
  /** Texts that have arrived, in order. */
  readonly heard: string[] = []
  /** How the desk was opened, each time. */
  readonly opened: LiveDeskOptions[] = []
  /** Number of new chats that it was asked for. */
  asked = 0
  /** Whether nobody is there: no new chat opens. */
  isClosed = false
  /** Number of calls of `end()`. */
  ends = 0
  /** What `send()` does beside recording the text. */
  onSend: (text: string) => void | Promise<void> = () => {}
  /** What `end()` does beside counting. */
  onEnd: () => void | Promise<void> = () => {}
  name: string | null | undefined
  typing = false
  handle: string | undefined = 'chat 1'
  #queue: (LiveDeskMessage | string)[] = []
  #wake: (() => void) | undefined
  #failure: { error: unknown } | undefined
  #isDone = false
  /** Counts the connections: only the last one receives messages. */
  #connection = 0
  #leave = () => {}
  #reject = (_: unknown) => {}

  readonly escalate: OpenLiveDesk = (_, options) => {
    if (options.handle === undefined) {
      this.asked++
      if (this.isClosed) return undefined
      // Another chat.
      this.#queue = []
    }
    this.opened.push(options)
    const desk = this
    const ended = new Promise<void>((resolve, reject) => {
      this.#leave = resolve
      this.#reject = reject
    })
    ended.catch(() => {})
    this.#isDone = false
    const live: LiveDesk = {
      send(text) {
        desk.heard.push(text)
        return desk.onSend(text)
      },
      messages: this.#messages(options.signal, ++this.#connection),
      get name() {
        return desk.name
      },
      get typing() {
        return desk.typing
      },
      get handle() {
        return desk.handle
      },
      ended,
      end() {
        desk.ends++
        return desk.onEnd()
      },
    }
    return live
  }

  get isOpen(): boolean {
    return this.opened.some(({ signal }) => !signal.aborted)
  }

  say(...items: (LiveDeskMessage | string)[]): void {
    this.#queue.push(...items)
    this.#wake?.()
  }

  /** Changes what the desk shows beside its messages. */
  set(values: Partial<Pick<ScriptedDesk, 'name' | 'typing' | 'handle'>>): void {
    Object.assign(this, values)
    this.say({})
  }

  /** The colleague leaves. */
  leave(): void {
    this.#leave()
  }

  /** The page is gone without a word: what is said now waits for the next one. */
  disconnect(): void {
    this.#connection++
    this.#wake?.()
  }

  failEnded(error: unknown): void {
    this.#reject(error)
  }

  finishMessages(): void {
    this.#isDone = true
    this.#wake?.()
  }

  failMessages(error: unknown): void {
    this.#failure = { error }
    this.#wake?.()
  }

  async *#messages(signal: AbortSignal, connection: number): AsyncGenerator<string | LiveDeskMessage> {
    while (!signal.aborted && connection === this.#connection) {
      const item = this.#queue.shift()
      if (item !== undefined) yield item
      else if (this.#failure) throw this.#failure.error
      else if (this.#isDone) return
      else
        await new Promise<void>(resolve => {
          this.#wake = resolve
          signal.addEventListener('abort', () => resolve())
        })
    }
  }
}

/** What the user says to get a person. */
export const ASK = 'a person, please'

/** The messages of a view, with the marks. */
export const shown = (view: ConversationView): string[] =>
  view.getSnapshot().messages.map(({ author, content, mark }) => (mark ? `-- ${mark}` : `${author}: ${content}`))

/** The answer of an agent that hands over when it is asked for a person. */
export const handingOver = ({ text }: { text: string }) =>
  text === ASK
    ? {
        content: 'A colleague takes over.',
        messageData: {
          escalation: true,
          escalationData: { live: true, entrypointUrl: 'https://live.example.test/chat' },
        },
      }
    : { content: `You said: ${text}` }
