import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A local HTTP server that receives the answer of a login. */
export interface RedirectListener {
  /** The redirect address, such as `http://127.0.0.1:49152/callback`. */
  readonly redirectUri: string
  /** Resolves with the parameters of the answer to the request with this state. */
  answerTo(state: string, signal: AbortSignal): Promise<URLSearchParams>
  /** Frees the port, after the page has been sent. */
  close(): Promise<void>
}

const PATH = '/callback'

/** Listens on a free port of this machine, for this machine only. */
export async function openRedirectListener(): Promise<RedirectListener> {
  let expected: { state: string; resolve: (answer: URLSearchParams) => void } | undefined
  const server = createServer((request, response) => {
    const answer = readAnswer(request, host)
    if (!answer) return show(response, 404, 'Not found', 'There is nothing at this address.')
    // Every program on this machine can call this port. Answers to other logins are ignored.
    if (expected === undefined || answer.get('state') !== expected.state)
      return show(response, 400, 'Not this login', 'This answer does not belong to the current login.')
    const { resolve } = expected
    expected = undefined
    if (answer.has('error'))
      show(response, 200, 'Not signed in', 'The terminal shows the reason. You can close this window.')
    else show(response, 200, 'Back to the terminal', 'You are signed in. You can close this window.')
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

/** The parameters of an answer of the login; `undefined` for other requests. */
function readAnswer({ method, url = '', headers }: IncomingMessage, host: string): URLSearchParams | undefined {
  // A page elsewhere can make its host name resolve to this machine (DNS rebinding). Its requests carry that name.
  if (method !== 'GET' || headers.host !== host) return undefined
  const { pathname, searchParams } = new URL(url, `http://${host}`)
  return pathname === PATH ? searchParams : undefined
}

function show(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'Cache-Control': 'no-store',
    // The address of this page contains the authorization code.
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
