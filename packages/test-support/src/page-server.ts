import { createServer } from 'node:http'
import { extname } from 'node:path'

/** A page's files by their path: `{ '/': '<!doctype html>…', '/page.js': '…' }`. */
export type PageFiles = Readonly<Record<string, string>>

/** A running page server. */
export interface PageServer {
  /** Its origin without a slash at the end, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** Stops it and ends open connections. */
  close(): Promise<void>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/**
 * Serves files from memory on a free port of the loopback address.
 *
 * `/` is an empty page unless given. A path that does not end in `.js`, `.json`, `.css` or `.svg` is HTML; anything not given is 404.
 *
 * @param headers sent with every answer, such as a content security policy
 */
export async function servePages(
  files: PageFiles,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageServer> {
  const known = new Map(Object.entries({ '/': '<!doctype html><title>Test</title>', '/favicon.ico': '', ...files }))
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const body = known.get(pathname)
    const type = TYPES[extname(pathname)] ?? 'text/html'
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': `${type}; charset=utf-8`, ...headers })
    response.end(body ?? 'Not found')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The page server has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()))
        server.closeAllConnections()
      }),
  }
}
