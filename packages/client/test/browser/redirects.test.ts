import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  type PageServer,
  servePages,
} from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

type Calls = Readonly<Record<'details' | 'session' | 'token', (origin: string) => Promise<string>>>

declare global {
  /** Put into the page by the bundle: the message with which a call fails. */
  var redirectCalls: Calls
}

const SCRIPT = `import { ApiHelper, AuthenticationService } from '../../src/index.ts'
const messageOf = work => work.then(() => 'no failure', error => error.message)
const api = apiDomain => new ApiHelper({ apiDomain, getToken: () => 'the-token', cache: { enabled: false } })
globalThis.redirectCalls = {
  details: origin => messageOf(api(origin).getAgentDetails({ agentId: '7' })),
  session: origin => messageOf(api(origin).getAiAgentSession({ agentId: '7', context: { iban: 'private' } })),
  token: origin => messageOf((async () => {
    const config = { tokenUrl: origin + '/token', clientId: 'shop', clientSecret: 'private', allowInBrowser: true }
    const authentication = new AuthenticationService({ type: 'client-credentials', config })
    await authentication.initialize({ deploymentInfo: { apiDomain: origin } })
    return authentication.getToken()
  })()),
}`

/** A service that allows every page to call it. */
async function listen(answer: (path: string) => { status: number; location?: string }) {
  const received: string[] = []
  const server = createServer((request, response) => {
    const cors = {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Headers': '*, Authorization',
      'Cache-Control': 'no-store',
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204, cors).end()
    received.push(`${request.method} ${request.url}`)
    const { status, ...headers } = answer(request.url ?? '')
    response.writeHead(status, { ...cors, ...headers, 'Content-Type': 'application/json' }).end('{"agentId":"7"}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => new Promise<void>(resolve => (server.close(() => resolve()), server.closeAllConnections()))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, close }
}

describe.skipIf(!hasChromium())('a redirect, asked for in a page', () => {
  let chromium: LaunchedChromium
  let pages: PageServer
  let service: Awaited<ReturnType<typeof listen>>
  let other: Awaited<ReturnType<typeof listen>>
  let status = 307

  beforeAll(async () => {
    const script = await bundleForPage(SCRIPT, import.meta.url)
    ;[chromium, pages, other] = await Promise.all([
      launchChromium(),
      servePages({ '/': '<!doctype html><script src="/host.js"></script>', '/host.js': script }),
      listen(() => ({ status: 200 })),
    ])
    service = await listen(path => ({ status, location: other.origin + path }))
  })
  afterAll(async () => {
    await Promise.all([chromium, pages, other, service].map(each => each?.close()))
  })
  beforeEach(() => {
    for (const { received } of [other, service]) received.length = 0
  })

  it.each([301, 302, 303, 307, 308])('[SEC-63] is followed by no call with a token or a body (%i)', async code => {
    status = code
    const page = await chromium.newPage()
    await page.goto(pages.url)
    const messages = await page.evaluate(async origin => {
      const { details, session, token } = globalThis.redirectCalls
      return [await details(origin), await session(origin), await token(origin)]
    }, service.origin)
    await page.close()
    expect(other.received).toEqual([])
    expect(service.received).toHaveLength(3)
    for (const message of messages) expect(message).toContain(`${service.origin} answered with a redirect`)
  })
})
