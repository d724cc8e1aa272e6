import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where the browser returns to after a login: an address of this program's own, on this machine. */
export interface RedirectListener {
  /** Such as `http://127.0.0.1:49152/callback`. */
  readonly redirectUri: string
  /** Resolves with what the provider said, once it is an answer to the request with this state. */
  answerTo(state: string, signal: AbortSignal): Promise<URLSearchParams>
  /** Frees the port; the page that was being shown arrives first. */
  close(): Promise<void>
}

const PATH = '/callback'

/** Listens on a free port of this machine, for this machine only. */
export async function openRedirectListener(): Promise<RedirectListener> {
  let expected: { state: string; resolve: (answer: URLSearchParams) => void } | undefined
  const server = createServer((request, response) => {
    const answer = readAnswer(request, host)
    if (!answer) return show(response, 404, 'Not found', 'There is nothing here.')
    // Anybody on this machine can call this port. What does not belong to the login under way ends nothing.
    if (expected === undefined || answer.get('state') !== expected.state)
      return show(response, 400, 'Not this login', 'This answer belongs to no login that is under way.')
    const { resolve } = expected
    expected = undefined
    if (answer.has('error')) show(response, 200, 'Not signed in', 'The terminal says more. This window may be closed.')
    else show(response, 200, 'Back to the terminal', 'The rest happens there. This window may be closed.')
    response.once('close', () => resolve(answer))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    redirectUri: `http://${host}${PATH}`,
    answerTo: (state, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        const giveUp = () => reject(signal.reason)
        signal.addEventListener('abort', giveUp, { once: true })
        expected = {
          state,
          resolve: answer => {
            signal.removeEventListener('abort', giveUp)
            resolve(answer)
          },
        }
      }),
    close: () => close(server),
  }
}

/** The parameters of a return from the login; nothing for any other request. */
function readAnswer({ method, url = '', headers }: IncomingMessage, host: string): URLSearchParams | undefined {
  // A page elsewhere can have a name of its own lead to this machine; its requests carry that name.
  if (method !== 'GET' || headers.host !== host) return undefined
  const { pathname, searchParams } = new URL(url, `http://${host}`)
  return pathname === PATH ? searchParams : undefined
}

function show(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'Cache-Control': 'no-store',
    // The address of this page holds the authorization code.
    'Referrer-Policy': 'no-referrer',
    Connection: 'close',
  })
  response.end(
    `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${title}</title>\n<h1>${title}</h1>\n<p>${text}</p>\n</html>\n`,
  )
}

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
