import { paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { CONNECTOR_PATH, CONNECTOR_SCRIPT } from '../connector/connector-script.ts'
import { type EmulatorServer, type ServeOptions, serveEmulator } from './serve.ts'

const servers: EmulatorServer[] = []
afterEach(() => Promise.all(servers.splice(0).map(server => server.close())))

async function serve(options: ServeOptions = {}) {
  const server = await serveEmulator({ reply: () => ({ content: 'Yes' }), ...options })
  servers.push(server)
  const token = server.emulator.control.issueToken({ subject: 'desk-agent' })
  const call = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } })
  return { ...server, call, token }
}

describe('a contact center on a port', () => {
  it('supports an agent from its portals to a session', async () => {
    const { call, emulator, token } = await serve({ settings: { portalPageSize: 3 } })
    const page = await call(`${paths.myPortals()}?%24lang=en-us&%24pagesize=75&%24pagenum=1`, {
      headers: { 'accept-language': 'en-us' },
    })
    expect(await page.json()).toMatchObject({
      portal: [{ id: 1001 }, { id: 1002 }, { id: 1003 }],
      paginationInfo: { count: 5, pagesize: 3, pagenum: 1 },
    })
    const details = await call(`${paths.portalDetails(1001)}?$lang=en-us`, { headers: { authorization: token } })
    expect(await details.json()).toMatchObject({ portal: [{ departmentId: 999 }] })
    const agents = await call(`${paths.agentsByPortal(999, 1001)}?agentType=contact-center`)
    expect(await agents.json()).toMatchObject([{ agentId: 'desk' }, { agentId: 'desk-orders' }])
    const selected = await call(`${paths.selectUserProfile(1001, 12)}?%24lang=en-us`, { method: 'PUT' })
    expect([selected.status, await selected.text()]).toEqual([204, ''])
    const profiles = (await (await call(paths.userProfiles(1001))).json()) as { profile: unknown[] }
    expect(profiles.profile.at(-1)).toEqual({ id: 12, name: 'Business', isLastUsedInPortal: true })
    const empty = await call(paths.userProfiles(1003))
    expect([empty.status, await empty.text()]).toEqual([204, ''])
    expect((await call(paths.session('desk'), { method: 'POST', body: '{}' })).status).toBe(200)
    expect(emulator.control.requests()[0]).toMatchObject({
      query: { $lang: 'en-us', $pagesize: '75', $pagenum: '1' },
      headers: { 'accept-language': 'en-us' },
    })
  })

  it('lets a page of another origin select a profile', async () => {
    const { call } = await serve()
    const preflight = await call(paths.selectUserProfile(1001, 12), {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'PUT' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
  })

  it('serves the connector', async () => {
    const { call } = await serve()
    const response = await call(CONNECTOR_PATH)
    expect(response.headers.get('content-type')).toMatch(/^text\/javascript/)
    expect(await response.text()).toBe(CONNECTOR_SCRIPT)
  })

  it('delays its responses if configured', async () => {
    const { call, emulator } = await serve()
    await call(paths.myPortals())
    emulator.settings.answerDelayMs = 80
    const before = performance.now()
    await Promise.all([call(paths.myPortals()), call(paths.userDetails())])
    // Timers may fire a little early by another clock.
    expect(performance.now() - before).toBeGreaterThan(70)
  })

  it('fails a step a number of times, over the controls', async () => {
    const { call } = await serve()
    await call('/_control/faults', {
      method: 'POST',
      body: JSON.stringify({ kind: 'answer', route: 'GET */internal/portals/*', status: 502, times: 1 }),
    })
    expect((await call(paths.myPortals())).status).toBe(200)
    expect((await call(paths.portalDetails(1001))).status).toBe(502)
    expect((await call(paths.portalDetails(1001))).status).toBe(200)
  })
})
