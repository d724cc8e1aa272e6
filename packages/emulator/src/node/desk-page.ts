import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { refuseControl } from '../control/access.ts'
import { findShippedFolder } from './shipped-folder.ts'

/** Path of the page on which a colleague answers. */
export const DESK_PATH = '/desk'

const JAVASCRIPT = 'text/javascript; charset=utf-8'
/** Names and types of the files by their paths. */
const FILES = new Map<string, readonly [name: string, type: string]>([
  [DESK_PATH, ['index.html', 'text/html; charset=utf-8']],
  [`${DESK_PATH}/`, ['index.html', 'text/html; charset=utf-8']],
  [`${DESK_PATH}/desk.css`, ['desk.css', 'text/css; charset=utf-8']],
  [`${DESK_PATH}/desk-panel.js`, ['desk-panel.js', JAVASCRIPT]],
  [`${DESK_PATH}/page.js`, ['page.js', JAVASCRIPT]],
])

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}

/**
 * Answers requests for the desk page, from this machine only, like the controls that the page uses.
 *
 * @returns undefined for other requests
 */
export async function answerDeskPage(request: Request, remoteAddress?: string): Promise<Response | undefined> {
  const file = FILES.get(new URL(request.url).pathname)
  if (!file || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  const message = refuseControl(request, remoteAddress)
  if (message !== undefined) return Response.json({ code: '403-000', message }, { status: 403 })
  const [name, type] = file
  const content = await readFile(join(await findShippedFolder('desk'), name), 'utf8')
  return new Response(content, { headers: { ...HEADERS, 'Content-Type': type } })
}
