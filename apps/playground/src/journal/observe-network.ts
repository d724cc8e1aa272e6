import type { Environment, WebSocketConstructor, WebSocketLike } from '@aiagent/client'
import type { Journal } from './journal.ts'
import { redactAddress, redactFrame, redactText } from './redact.ts'

/** The `fetch` and `WebSocket` of an agent, which note in the journal what passes through them. */
export function observeNetwork(
  { fetch, WebSocket }: Pick<Environment, 'fetch' | 'WebSocket'>,
  journal: Journal,
): Pick<Environment, 'fetch' | 'WebSocket'> {
  return { fetch: observeFetch(fetch, journal), WebSocket: observeSockets(WebSocket, journal) }
}

function observeFetch(fetch: Environment['fetch'], journal: Journal): Environment['fetch'] {
  return async (input, init) => {
    const end = journal.beginRequest(init?.method ?? 'GET', redactAddress(input))
    try {
      const response = await fetch(input, init)
      end(response.status)
      return response
    } catch (error) {
      end(0)
      throw error
    }
  }
}

type Handler = ((event: never) => unknown) | null
const call = (handler: Handler, event: unknown) => (handler as ((event: unknown) => unknown) | null)?.(event)

function observeSockets(Socket: WebSocketConstructor, journal: Journal): WebSocketConstructor {
  const note = (direction: 'in' | 'out', data: unknown) => {
    const { title, summary, json, isReadable } = redactFrame(data)
    journal.addFrame({ direction, title, summary, json, tone: isReadable ? 'idle' : 'bad' })
  }
  const noteSocket = (title: string, summary: string, tone: 'busy' | 'good' | 'warn') =>
    journal.addFrame({ direction: 'socket', title, summary, json: '', tone })

  return class ObservedSocket implements WebSocketLike {
    readonly #socket: WebSocketLike
    onopen: Handler = null
    onmessage: Handler = null
    onclose: Handler = null
    onerror: Handler = null

    constructor(url: string) {
      noteSocket('connecting', `${new URL(url).host}${redactAddress(url)}`, 'busy')
      const socket = new Socket(url)
      this.#socket = socket
      socket.onopen = (event: unknown) => {
        noteSocket('open', '', 'good')
        call(this.onopen, event)
      }
      socket.onmessage = (event: { data: unknown }) => {
        note('in', event.data)
        call(this.onmessage, event)
      }
      socket.onclose = (event: { code: number; reason: string }) => {
        noteSocket(`closed ${event.code}`, redactText(event.reason), 'warn')
        call(this.onclose, event)
      }
      socket.onerror = (event: unknown) => call(this.onerror, event)
    }

    get readyState(): number {
      return this.#socket.readyState
    }

    get bufferedAmount(): number {
      return this.#socket.bufferedAmount
    }

    send(data: string): void {
      note('out', data)
      this.#socket.send(data)
    }

    close(code?: number, reason?: string): void {
      this.#socket.close(code, reason)
    }
  }
}
