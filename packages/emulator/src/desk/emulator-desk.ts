/**
 * A colleague at the desk of the emulator, as the live desk of a conversation view.
 *
 * @module
 */
import { type DeskContext, fittingContext } from './desk-context.ts'

/** How {@link emulatorDesk} reaches the emulator. */
export interface EmulatorDeskOptions {
  /** Address of the emulator: the endpoint of the agent. */
  readonly url: string
  /** `fetch` of an emulator in the same page or process. @default the global function */
  readonly fetch?: (input: string, init?: RequestInit) => Promise<Response>
}

/** A chat with a colleague at the desk of an emulator: a `LiveDesk` of `@aiagent/view`. */
export interface EmulatorLiveDesk {
  /** Sends text of the user. Resolves once the emulator has it; rejects after 25 seconds, and when the chat has ended. */
  send(text: string): Promise<void>
  /** What the colleague says, and `{}` after other changes. Ends when the colleague leaves. */
  readonly messages: AsyncIterable<{ readonly id?: string; readonly text?: string; readonly time?: number }>
  /** Whether the colleague is writing. */
  readonly typing: boolean
  /** Name of the colleague, once one has joined. */
  readonly name: string | undefined
  /** Opens the same chat again. */
  readonly handle: string
  /** Resolves when the colleague has left. */
  readonly ended: Promise<void>
  /** Ends the chat. */
  end(): Promise<void>
}

/** What the emulator reports of a chat. */
interface ChatState {
  readonly state: string
  readonly name?: string
  readonly isTyping: boolean
  readonly hasEnded: boolean
  readonly messages: readonly { readonly id: string; readonly text: string; readonly at: number }[]
}

/** What the emulator reads of a message of the conversation before the chat. */
interface ContextMessage {
  readonly author: 'user' | 'agent' | 'colleague'
  readonly authorName: string | undefined
  readonly content: string
  readonly time: number
}

/** A view marks a message as `unknown` after 30 seconds; until then it is known whether it has arrived. */
const SEND_LIMIT_MS = 25_000
const END_LIMIT_MS = 10_000
/** A lost connection that nobody has closed is replaced after this time. */
const ATTEMPT_LIMIT_MS = 60_000
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 3_000

/** A request that the emulator has refused: a repetition would be refused, too. */
class DeskRefusal extends Error {
  override readonly name = 'DeskRefusal'
}

/**
 * Opens chats at the desk of an emulator, for the option `escalate` of a view and the property `escalate` of
 * `<ai-agent-chat>`. A colleague answers on the page `/desk` of a served emulator, or a test with `emulator.desk`.
 *
 * The colleague reads the conversation that the view passes. Lost connections are opened again: nothing is lost or repeated.
 *
 * @returns a function that returns undefined for an escalation other than a live chat
 */
export function emulatorDesk({ url, fetch = (...given) => globalThis.fetch(...given) }: EmulatorDeskOptions): (
  escalation: { readonly type: string },
  options: {
    readonly handle?: string
    readonly conversation?: readonly ContextMessage[]
    readonly signal: AbortSignal
  },
) => EmulatorLiveDesk | undefined {
  return ({ type }, { handle: known, conversation = [], signal }) => {
    if (type !== 'live') return undefined
    const handle = known ?? newHandle()
    const address = `${url.replace(/\/+$/, '')}/live-desk/${handle}`

    /** The text of an answer; undefined where none arrived in time. */
    const attempt = async (method: string, path: string, wanted: readonly AbortSignal[], body?: string) => {
      const either = new AbortController()
      const signals = [...wanted, AbortSignal.timeout(ATTEMPT_LIMIT_MS)]
      const abort = () => either.abort()
      for (const each of signals) each.addEventListener('abort', abort)
      try {
        const init = { method, signal: either.signal, ...(body !== undefined && { body }) }
        const response = await fetch(address + path, init)
        return { isOk: response.ok, status: response.status, text: await response.text() }
      } catch {
        return undefined
      } finally {
        for (const each of signals) each.removeEventListener('abort', abort)
      }
    }

    /** Repeats a call until it is answered, refused, or not wanted any more. */
    const call = async (method: string, path: string, wanted: readonly AbortSignal[], body?: string) => {
      for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
        for (const each of wanted) each.throwIfAborted()
        const answer = await attempt(method, path, wanted, body)
        if (answer?.isOk) return answer.text
        if (answer && answer.status < 500 && answer.status !== 429) throw new DeskRefusal(messageIn(answer.text))
        await new Promise(resolve => setTimeout(resolve, waitMs))
      }
    }

    const context = contextOf(conversation)
    const body = context.length > 0 ? JSON.stringify({ conversation: context }) : undefined
    const opening = known === undefined ? call('PUT', '', [signal], body) : Promise.resolve()
    opening.catch(() => {})
    let previous: Promise<unknown> = opening
    let state: Partial<ChatState> = {}
    let finish = () => {}
    let fail = (_: unknown) => {}
    const ended = new Promise<void>((resolve, reject) => {
      finish = resolve
      fail = reject
    })
    ended.catch(() => {})

    async function* receive() {
      try {
        await opening
        for (let count = 0; !state.hasEnded; ) {
          const query = new URLSearchParams({ after: String(count), ...(state.state && { seen: state.state }) })
          const next = JSON.parse(await call('GET', `?${query}`, [signal])) as ChatState
          state = next
          count += next.messages.length
          if (next.messages.length === 0) yield {}
          for (const { id, text, at } of next.messages) yield { id, text, time: at }
        }
        finish()
      } catch (error) {
        if (signal.aborted) return
        fail(error)
        throw error
      }
    }

    return {
      async send(text) {
        const limit = AbortSignal.timeout(SEND_LIMIT_MS)
        // One after the other: a repetition must not be overtaken.
        const body = JSON.stringify({ id: newHandle(), text })
        const sending = previous.then(() => call('POST', '/messages', [signal, limit], body))
        previous = sending.catch(() => {})
        await sending
      },
      messages: receive(),
      get typing() {
        return state.isTyping === true
      },
      get name() {
        return state.name
      },
      handle,
      ended,
      async end() {
        await opening.catch(() => {})
        await call('POST', '/end', [AbortSignal.timeout(END_LIMIT_MS)]).catch(error => {
          // Nothing is left to be ended.
          if (!(error instanceof DeskRefusal)) throw error
        })
      },
    }
  }
}

/** The conversation as the emulator keeps it: what has a text, and of that the end. */
function contextOf(messages: readonly ContextMessage[]): readonly DeskContext[] {
  return fittingContext(
    messages.flatMap(({ author, authorName: name, content: text, time: at }) =>
      text
        ? [author === 'user' ? { from: 'customer', text, at } : { from: author, ...(name && { name }), text, at }]
        : [],
    ),
  )
}

/** Cannot be guessed, in contrast to the ids of the emulator, which follow from its seed. */
function newHandle(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message)
  } catch {
    return 'The emulator refused the request.'
  }
}
