import { paths } from '@aiagent/protocol'
import { expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import type { Page, PageWindow } from './page.ts'

// Loaded before the clock is moved: loading a module takes real time.
const [{ explainNetworkFailure }] = await Promise.all([
  import('./network-failure.ts'),
  import('../auth/anonymous-strategy.ts'),
])

/** A page without a service policy, which counts the listeners on its document. */
function countedPage() {
  let listeners = 0
  const document = {
    addEventListener: () => void listeners++,
    removeEventListener: () => void listeners--,
  }
  const page: Page = {
    isHidden: () => false,
    nextTask: callback => void setImmediate(callback),
    onReturn: () => () => {},
    addScript: () => {
      throw new Error('This page loads no script.')
    },
    window: { document } as unknown as PageWindow,
  }
  return { page, listeners: () => listeners }
}

it.each<[what: string, window: object, endpoint: string, isNamed: boolean]>([
  [
    'that the user denied',
    { isSecureContext: true, states: { 'local-network-access': 'denied' } },
    'https://printer.test',
    true,
  ],
  [
    'that the user denied for this device',
    { isSecureContext: true, states: { 'loopback-network': 'denied' } },
    'http://127.0.0.1:9',
    true,
  ],
  [
    'that the user allowed',
    { isSecureContext: true, states: { 'local-network-access': 'granted' } },
    'https://printer.test',
    false,
  ],
  ['that a page without https cannot ask for', { isSecureContext: false }, 'http://192.168.0.2', true],
  ['of a page without https that calls a public host', { isSecureContext: false }, 'http://agents.test', false],
])(
  '[REL-24] names Local Network Access only where it may be the cause: %s',
  async (_what, given, endpoint, isNamed) => {
    const { states = {}, ...window } = given as { states?: Record<string, string> }
    const query = async ({ name }: { name: string }) => {
      if (!(name in states)) throw new TypeError(`Unknown permission ${name}.`)
      return { state: states[name] }
    }
    const location = { origin: 'https://host.test', protocol: 'http:' }
    const page = { window: { ...window, location, navigator: { permissions: { query } } } } as unknown as Page
    const { clock } = setUp()
    const fetch = async () => {
      throw new TypeError('Failed to fetch')
    }
    const why = await passing(clock, explainNetworkFailure({ page, clock, fetch }, endpoint, undefined))
    expect(why.includes('Local Network Access')).toBe(isNamed)
    expect(why).toContain(isNamed ? 'allow https://host.test in the site settings' : 'nothing answers there')
  },
)

it('[REL-116] destroy() ends the search for the cause of a failed request', async () => {
  const { page, listeners } = countedPage()
  const { clock, emulator, make } = setUp({}, { page })
  const { agent } = make()
  emulator.close()
  const initializing = rejection(agent.initialize())
  // The test request of the page has failed too, and the event of a policy violation may still follow.
  for (let steps = 0; listeners() === 0 && steps < 100; steps++) await clock.advance(0)
  expect(listeners()).toBe(1)
  await agent.destroy()
  await clock.advance(0)
  expect([listeners(), clock.pendingTimers]).toEqual([0, 0])
  await passing(clock, initializing)
})

it('[REL-116] destroy() ends a token request that nobody else waits for', async () => {
  const { clock, emulator, make } = setUp()
  const { agent } = make()
  for (const path of [paths.metadataOfDeployment(), paths.metadataOfTenant(emulator.world.tenants[0]?.id ?? '')])
    emulator.faults.add({ kind: 'hang-request', route: path })
  const initializing = rejection(agent.initialize())
  const hasAsked = () => emulator.control.requests().some(({ path }) => path.includes('metadata'))
  for (let steps = 0; !hasAsked() && steps < 100; steps++) await clock.advance(0)
  expect(hasAsked()).toBe(true)
  await agent.destroy()
  await clock.advance(0)
  expect(clock.pendingTimers).toBe(0)
  await passing(clock, initializing)
})

it.each(['ftp://files.test/x', 'file:///etc/passwd', 'data:text/plain,x'])(
  '[SEC-92] the search for the cause of a failure does not follow a redirect to %s',
  async location => {
    const asked: string[] = []
    const fetch = async (input: string) => {
      asked.push(input)
      return new Response(null, { status: 302, headers: { location } })
    }
    const { clock } = setUp()
    const why = await explainNetworkFailure({ clock, fetch }, 'https://a.test/x', new TypeError(), undefined, true)
    expect(asked).toEqual(['https://a.test/x'])
    expect(why).toContain(`redirects to the scheme ${new URL(location).protocol}`)
  },
)
