import { DEFAULT_WORLD } from '@aiagent/emulator'
import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

/** Requests of a start, each with the requests whose answers it needs. A number tells requests to one path apart. */
type Needs = Readonly<Record<string, readonly string[]>>

const DIRECT: Needs = {
  deploymentInfo: [],
  metadata: ['deploymentInfo'],
  'token 1': ['metadata'],
  details: ['token 1'],
  // The scopes of the details differ from those of the first token.
  'token 2': ['details'],
  session: ['token 2'],
  upgrade: ['session', 'details'],
}

const CONTACT_CENTER: Needs = {
  deploymentInfo: [],
  details: ['deploymentInfo'],
  user: ['details'],
  masking: ['details'],
  portals: ['details'],
  // A portal is entered when user and masking rules are known.
  portalDetails: ['portals', 'user', 'masking'],
  profiles: ['portals', 'user', 'masking'],
  select: ['portalDetails', 'profiles'],
  session: ['select'],
  upgrade: ['session', 'details'],
}

const NAMES: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['deploymentInfo', /^GET .*deploymentInfo$/],
  ['metadata', /^GET .*metadata/],
  ['token', /^POST .*token$/],
  ['session', /^POST .*session$/],
  ['masking', /^GET .*masking/i],
  ['user', /^GET .*portals\/user$/],
  ['profiles', /^GET .*profile/i],
  ['select', /^PUT .*profile/i],
  ['details', /^GET .*details\/agent/],
  ['portalDetails', /^GET .*portals\/1001$/],
  ['portals', /^GET .*portals/],
]

/** An agent that starts over a `fetch` whose answers wait until the test releases them. */
function startHeld(config: (issueToken: () => string) => Partial<AiAgentConfig>) {
  const agents = DEFAULT_WORLD.agents.map(agent => ({
    ...agent,
    details: { ...agent.details, enableDataMasking: agent.details.agentId === 'desk' },
  }))
  const { emulator, make } = setUp({ world: { ...DEFAULT_WORLD, agents } })
  const started: string[] = []
  /** Releases the answer of a request in flight, by its name. */
  const held = new Map<string, () => void>()
  const hold = (request: string) => {
    const name = NAMES.find(([, pattern]) => pattern.test(request))?.[0] ?? request
    const count = started.filter(each => each.startsWith(name)).length
    const unique = name === 'token' ? `${name} ${count + 1}` : name
    started.push(unique)
    return new Promise<void>(resolve => held.set(unique, resolve))
  }
  const { agent } = make(
    { autoConnect: true, ...config(() => emulator.control.issueToken({ subject: 'desk-agent' })) },
    {
      memory: new MemoryCacheAdapter(),
      fetch: async (address, init) => {
        const released = hold(`${init?.method ?? 'GET'} ${new URL(address).pathname}`)
        const response = await emulator.fetch(address, init)
        await released
        return response
      },
      WebSocket: class extends emulator.WebSocket {
        constructor(address: string) {
          super(address)
          void hold('upgrade')
        }
      },
    },
  )
  return { agent, started, held }
}

const STARTS: readonly (readonly [string, Needs, (issueToken: () => string) => Partial<AiAgentConfig>])[] = [
  ['an anonymous direct start', DIRECT, () => ({})],
  [
    'a contact-center start',
    CONTACT_CENTER,
    issueToken => ({
      id: 'desk',
      auth: { type: 'pre-auth', accessToken: issueToken() },
      context: { vendor_portal_id: 1001, vendor_personalization_profile_id: 11 },
    }),
  ],
]

describe.each(STARTS)('%s', (_, needs, config) => {
  it.each([
    ['in the order of the requests', 0],
    ['in the reverse order', -1],
  ])(
    '[REL-240] sends each request with the last answer that it needs, and no other, when answers come %s',
    async (_, at) => {
      const { agent, started, held } = startHeld(config)
      const ready = agent.initialize()
      const answered = new Set<string>()
      const due = () => Object.keys(needs).filter(name => needs[name]?.every(need => answered.has(need)))
      while (!answered.has('session')) {
        await eventually(() => due().every(name => started.includes(name)), `the start of ${due().join(', ')}`)
        await turnEventLoop()
        // Nothing waits longer than for what it needs, and nothing is sent before: a guessed request would be in the list too.
        expect(started.toSorted()).toEqual(due().sort())
        const inFlight = started.filter(name => !answered.has(name))
        const next = inFlight.at(at) ?? ''
        answered.add(next)
        held.get(next)?.()
      }
      expect(await ready).toEqual({ status: 'ready' })
      await eventually(() => agent.isConnected(), 'the connection')
      expect(started.toSorted()).toEqual(Object.keys(needs).sort())
      await agent.destroy()
    },
  )
})
