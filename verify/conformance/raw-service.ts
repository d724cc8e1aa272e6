import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Environment } from '@aiagent/client'
import { FakeWebSocket } from '@aiagent/test-support'

export interface RawRequest {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A response, well-formed or not. */
export interface RawAnswer {
  /** @default 200 */
  readonly status?: number
  /** Sent as JSON unless it is a string. */
  readonly body?: unknown
  /**
   * `complete`: the whole body arrives. `broken`: the connection breaks within the body. `stalled`: the body never ends.
   * `silent`: no response at all.
   *
   * @default 'complete'
   */
  readonly ending?: 'complete' | 'broken' | 'stalled' | 'silent'
}

export type RawHandler = (request: RawRequest) => RawAnswer

/** A service whose responses the scenario defines. */
export interface RawService {
  readonly endpoint: string
  /** Environment of an agent that uses this service. */
  readonly environment: Partial<Environment>
  readonly requests: readonly RawRequest[]
  close(): void
}

const PENDING = new Promise<never>(() => {})

/** In process: a `fetch` function, and sockets that never open. */
export function rawServiceInProcess(handler: RawHandler): RawService {
  const requests: RawRequest[] = []
  const fetch = async (input: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input)
    const headers = Object.fromEntries(new Headers(init.headers))
    const request = { method: init.method ?? 'GET', path: url.pathname, headers, body: String(init.body ?? '') }
    requests.push(request)
    const answer = handler(request)
    const aborted = new Promise<never>((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
    aborted.catch(() => {})
    if (answer.ending === 'silent') return Promise.race([PENDING, aborted])
    const bytes = new TextEncoder().encode(textOf(answer))
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes)
        if (answer.ending === 'broken') controller.error(new TypeError('terminated'))
        else if (answer.ending === 'stalled') aborted.catch(reason => controller.error(reason))
        else controller.close()
      },
    })
    const status = answer.status ?? 200
    return new Response(status === 204 ? null : stream, { status })
  }
  return { endpoint: 'http://raw.test', environment: { fetch, WebSocket: FakeWebSocket }, requests, close: () => {} }
}

/** On a loopback port. A WebSocket upgrade is handled like any other request. */
export async function rawServiceOverPort(handler: RawHandler): Promise<RawService> {
  const requests: RawRequest[] = []
  const server = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    const request = {
      method: incoming.method ?? '',
      path: new URL(incoming.url ?? '/', 'http://raw.test').pathname,
      headers: incoming.headers as Record<string, string>,
      body,
    }
    requests.push(request)
    write(response, handler(request))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    environment: {},
    requests,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function write(response: ServerResponse, answer: RawAnswer): void {
  if (answer.ending === 'silent') return
  const text = textOf(answer)
  const isWhole = (answer.ending ?? 'complete') === 'complete'
  // Announces more than is sent, so that the end of the connection is not the end of the body.
  const length = Buffer.byteLength(text) + (isWhole ? 0 : 100)
  response.writeHead(answer.status ?? 200, answer.status === 204 ? {} : { 'content-length': length })
  if (isWhole) return void response.end(text)
  response.write(text, () => {
    if (answer.ending === 'broken') response.destroy()
  })
}

function textOf({ body }: RawAnswer): string {
  return body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
}
