import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { DeskCaller } from '../../test/desk-caller.ts'
import { CONNECTOR_PATH, CONNECTOR_SCRIPT } from './connector-script.ts'

interface Portal {
  id: number
  department?: { id: number }
}

/** What the script leaves behind, as far as it is called here. */
interface Component {
  setHookContract(hook: Hook): void
  loadCustomHook(hook: Hook): void
  addCustomAuthScopes(scopes: string[]): string[]
  initPlatform(hook: Hook): Promise<void>
  getPortalList(portals: Portal[]): Portal[]
  getDefaultPortal(portals: Portal[]): Portal | null
  onPortalSelected(portal: Portal): Record<string, string[]>
}

/** Stands for an agent, and notes what it is told. */
class Hook {
  readonly told: Record<string, unknown> = {}
  readonly lines: { sender: string; content: string; timestamp: Date }[] = []
  takeCall?: (call: { id: string }) => void
  readonly #initParams: Record<string, unknown>

  constructor(initParams: Record<string, unknown> = {}) {
    this.#initParams = initParams
  }

  getInitParams = () => ({ ...this.#initParams })
  setPlatformAuthenticated = (value: boolean) => (this.told.authenticated = value)
  setConversationId = (id: string) => (this.told.conversationId = id)
  setCallerInfo = (info: unknown) => (this.told.caller = info)
  setUserContext = (context: unknown) => (this.told.context = context)
  addToTranscript = (line: (typeof this.lines)[number]) => void this.lines.push(line)
}

/** Runs the script as a tag does: not as a module, with a separate global. */
function load(): Component {
  const page: { PlatformComponentService?: Component } = {}
  runInNewContext(CONNECTOR_SCRIPT, page)
  if (!page.PlatformComponentService) throw new Error('The script has registered nothing.')
  return page.PlatformComponentService
}

/** Loads it for an agent, as a client does. */
async function connect(initParams?: Record<string, unknown>): Promise<{ desk: Component; hook: Hook }> {
  const desk = load()
  const hook = new Hook(initParams)
  desk.setHookContract(hook)
  desk.loadCustomHook(hook)
  await desk.initPlatform(hook)
  return { desk, hook }
}

const PORTALS: Portal[] = [{ id: 1001, department: { id: 999 } }, { id: 1002 }, { id: 1003 }]

describe('the demonstration connector', () => {
  it('is served at the usual address, without a token and for every page', async () => {
    const desk = new DeskCaller()
    const response = await desk.service.get(CONNECTOR_PATH, { origin: 'https://page.example' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('access-control-allow-origin')).toBe('https://page.example')
    expect(await response.text()).toBe(CONNECTOR_SCRIPT)
  })

  it('is the same for a dynamic import', async () => {
    const address = `data:text/javascript,${encodeURIComponent(CONNECTOR_SCRIPT)}`
    try {
      await import(/* @vite-ignore */ address)
      expect(globalThis).toHaveProperty('PlatformComponentService.initPlatform')
    } finally {
      Reflect.deleteProperty(globalThis, 'PlatformComponentService')
    }
  })

  it('reports a call to the agent: caller, id, and transcript, in order', async () => {
    const { hook } = await connect()
    expect(hook.told).toMatchObject({
      authenticated: true,
      conversationId: 'call-1001',
      caller: { name: 'Customer', phone: '+1 202 555 0143' },
      context: { desk: 'demonstration', callId: 'call-1001' },
    })
    expect(hook.lines.map(({ sender }) => sender)).toEqual(['agent', 'customer', 'agent'])
    const minutes = hook.lines.map(({ timestamp }) => timestamp.getTime())
    expect(minutes).toEqual([...minutes].sort((a, b) => a - b))
    expect(new Set(minutes).size).toBe(3)
  })

  it('uses the call id of the host', async () => {
    const { hook } = await connect({ callId: ' 4711 ' })
    expect(hook.told).toMatchObject({ conversationId: '4711' })
  })

  it('lets the page accept another call', async () => {
    const { hook } = await connect()
    hook.takeCall?.({ id: 'call-1002' })
    expect(hook.told).toMatchObject({ conversationId: 'call-1002', context: { callId: 'call-1002' } })
    expect(hook.lines).toHaveLength(6)
  })

  it('separates two agents on one page', async () => {
    const desk = load()
    const [first, second] = [new Hook({ callId: 'a' }), new Hook({ callId: 'b' })]
    for (const hook of [first, second]) {
      desk.setHookContract(hook)
      desk.loadCustomHook(hook)
    }
    await Promise.all([desk.initPlatform(first), desk.initPlatform(second)])
    expect([first.told.conversationId, second.told.conversationId]).toEqual(['a', 'b'])
    first.takeCall?.({ id: 'c' })
    expect([first.told.conversationId, second.told.conversationId]).toEqual(['c', 'b'])
  })

  it('offers all portals and selects none, unless the host configures it', async () => {
    const { desk } = await connect()
    expect(desk.getPortalList(PORTALS)).toEqual(PORTALS)
    expect(desk.getDefaultPortal(PORTALS)).toBeNull()
    const { desk: other } = await connect({ hiddenPortals: '1001, 1003', defaultPortal: 1002 })
    expect(other.getPortalList(PORTALS)).toEqual([{ id: 1002 }])
    expect(other.getDefaultPortal(PORTALS)).toEqual({ id: 1002 })
  })

  it('filters answers by the selected portal', async () => {
    const { desk } = await connect()
    expect(desk.onPortalSelected({ id: 1001, department: { id: 999 } })).toEqual({
      portal: ['1001'],
      department: ['999'],
    })
    expect(desk.onPortalSelected({ id: 1002 })).toEqual({ portal: ['1002'] })
  })

  it('requests no scopes', async () => {
    expect((await connect()).desk.addCustomAuthScopes(['a'])).toEqual(['a'])
  })
})
