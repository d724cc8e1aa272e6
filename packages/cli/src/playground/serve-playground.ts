import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { findPageFiles, type PageFiles } from './page-files.ts'
import { type PlaygroundService, pageHeaders } from './page-headers.ts'

/** What a playground is served with. */
export interface ServePlaygroundOptions extends PlaygroundService {
  /** Port to try first; a free one where it is taken. @default a free one */
  readonly port?: number
  /** Prints a line, such as that the page is being built. */
  readonly show: (line: string) => void
}

/** A served playground. */
export interface PlaygroundServer {
  /** Address of the page. */
  readonly url: string
  /** Ends open connections, and releases the port. */
  close(): Promise<void>
}

/** Paths of files: without encoded characters, hidden files and `..`. */
const PAGE_PATH = /^(?:\/[\w-][\w.-]*)+$/

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Serves the playground for a service, on this machine only.
 *
 * @param files the page; default: the built one, or the source of a clone
 * @returns undefined where the page is missing
 */
export async function servePlayground(
  options: ServePlaygroundOptions,
  files: PageFiles | undefined = findPageFiles(),
): Promise<PlaygroundServer | undefined> {
  if (!files) return undefined
  const prepared = prepareOnce(files, options.show)
  const headers = pageHeaders(options)
  const { createHostCheck } = await import('@aiagent/emulator/node')
  const check = createHostCheck([])
  const server = createServer(async (request, response) => {
    const refusal = check(request)
    if (refusal) {
      response.writeHead(refusal.status, {
        ...headers,
        'Content-Type': 'text/plain; charset=utf-8',
        Connection: 'close',
      })
      return void response.end(refusal.message)
    }
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const path = pathname === '/' ? '/index.html' : pathname
    try {
      const isWanted = PAGE_PATH.test(path) && (request.method === 'GET' || request.method === 'HEAD')
      if (isWanted) await prepared()
      const file = isWanted ? await readFile(join(files.folder, path)).catch(() => undefined) : undefined
      if (!file) {
        response.writeHead(404, { ...headers, 'Content-Type': 'text/plain' })
        return void response.end('Not found.')
      }
      const isAsset = path.startsWith('/assets/')
      response.writeHead(200, {
        ...headers,
        'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream',
        // The name of an asset contains the hash of its content.
        'Cache-Control': isAsset ? 'max-age=31536000, immutable' : 'no-store',
      })
      response.end(path === '/index.html' ? withService(file.toString(), options) : file)
    } catch (error) {
      response.writeHead(500, { ...headers, 'Content-Type': 'text/plain; charset=utf-8' })
      response.end(error instanceof Error ? error.message : String(error))
    }
  })
  await listen(server, options.port ?? 0)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Builds the page with the first request, and after a failure with the next one. */
function prepareOnce({ prepare }: PageFiles, show: (line: string) => void): () => Promise<void> {
  let pending: Promise<void> | undefined
  return () => {
    if (!pending) {
      pending = prepare(() => show('Building the playground for its first request. This takes a few seconds.'))
      pending.catch(() => (pending = undefined))
    }
    return pending
  }
}

/** The page with the address of its service. */
function withService(html: string, { endpoint, isEmulator, agentId }: PlaygroundService): string {
  const facts = { endpoint, service: isEmulator ? 'emulator' : 'deployment', agent: agentId }
  const tags = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<meta name="playground-${name}" content="${asAttribute(String(value))}">`)
  return html.replace('<head>', () => `<head>\n${tags.join('\n')}`)
}

const asAttribute = (text: string) => text.replace(/[&"<>]/g, character => `&#${character.charCodeAt(0)};`)

/** Opens the port; a free one where it is taken. */
async function listen(server: Server, port: number): Promise<void> {
  const open = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(at, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await open(port).catch(error => (port === 0 ? Promise.reject(error) : open(0)))
}
