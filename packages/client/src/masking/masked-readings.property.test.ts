import { propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeChannel, type FakeTab } from '../../test/fake-browser.ts'
import { CAPABILITIES, setUpTabs } from '../../test/set-up-tabs.ts'
import { AiAgent } from '../ai-agent.ts'

/*
 * A card number, planted in every message of the user, in two tabs that share a conversation. The host reads all that it can, at
 * each step; another page hears what the tabs tell each other.
 */

const CARD = '4111 1111 1111 1111'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([
  import('./load-masker.ts'),
  import('./data-masker.ts'),
  import('../resume/stored-queue.ts'),
  import('../resume/session-resume.ts'),
])

const STEPS = [
  'initialize',
  'connect',
  'send',
  'ask',
  'drop',
  'lose',
  'restart',
  'disconnect',
  'reload',
  'wait',
] as const
const step = fc.record({ kind: fc.constantFrom(...STEPS), tab: fc.nat({ max: 1 }) })
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
const beginning: Step[] = (['initialize', 'wait', 'connect', 'wait'] as const).flatMap(kind => [
  { kind, tab: 0 },
  { kind, tab: 1 },
])
const life = fc
  .tuple(fc.constantFrom([], beginning), fc.array(step, { maxLength: 14 }))
  .map(([first, others]) => [...first, ...others])

/** Plays the steps with the id of an agent, and returns everything that was read, stored, written and posted. */
async function play(
  steps: readonly Step[],
  capabilities: (typeof CAPABILITIES)[number][],
  id: string,
): Promise<string> {
  const { browser, clock, emulator } = setUpTabs({ settings: { heartbeatBeforeReply: false, capabilities } })
  const seen: unknown[] = []
  // The promises of a page that was closed never settle.
  const call = (work: Promise<unknown>) => void work.catch(() => {})
  const ears = browser.open()
  const names = new Set<string>()
  const overhear = () => {
    for (const { name } of [...browser.tabs].flatMap(tab => [...tab.channels])) {
      if (names.has(name)) continue
      names.add(name)
      const channel = new FakeChannel(name, ears)
      channel.onmessage = ({ data }: { readonly data: unknown }) => void seen.push(JSON.stringify(data))
    }
  }
  const load = (tab: FakeTab) => {
    const config = { id, endpoint: emulator.origin, tabs: 'share', resume: true, persistQueue: true } as const
    const agent = new AiAgent({ ...config, enableLogging: false }, tab.environment)
    for (const type of ['transcriptUpdate', 'transcriptRestored', 'deliveryUpdate', 'error'] as const)
      agent.on(
        type,
        ({ payload }) => void seen.push(JSON.stringify(payload), `${(payload as { error?: Error }).error}`),
      )
    return { agent, tab, ids: [] as string[] }
  }
  const tabs = [load(browser.open()), load(browser.open())]
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      await turnEventLoop(5)
      await clock.advance(50)
    }
  }
  const look = () => {
    for (const { agent, tab, ids } of tabs) {
      const entries = agent.getTranscript()
      // Before it is accepted, a message is as its host wrote it.
      const accepted = ids.filter(each => entries.some(({ message }) => message.messageId === each))
      const deliveries = accepted.map(each => agent.delivery(each)?.message)
      seen.push(JSON.stringify([entries, agent.getTranscriptAsJSON(), deliveries]))
      call(agent.explain().then(explanation => seen.push(JSON.stringify(explanation))))
      seen.push(JSON.stringify([...tab.sessionStorage.items, ...browser.localStorage.items]))
    }
  }
  for (const { kind, tab: index } of [...steps, { kind: 'wait', tab: 0 } as const]) {
    const open = tabs[index] as ReturnType<typeof load>
    const { agent, ids } = open
    if (kind === 'initialize' || kind === 'connect') call(agent[kind]())
    else if (kind === 'send') call(agent.send(`my card is ${CARD}`).then(sent => ids.push(sent)))
    else if (kind === 'ask') call(agent.ask(`is ${CARD} my card?`))
    else if (kind === 'restart') call(agent.restartConnection())
    else if (kind === 'disconnect') call(agent.disconnect())
    else if (kind === 'drop') emulator.control.dropSockets()
    else if (kind === 'lose') emulator.faults.add({ kind: 'lose-frames', direction: 'to-service', forMs: 50 })
    else if (kind === 'reload') {
      open.tab.close()
      tabs[index] = load(browser.open(open.tab.sessionStorage))
    }
    overhear()
    await turnEventLoop(3)
    if (kind === 'wait') await pass(400)
    look()
  }
  for (const { agent } of tabs) call(agent.initialize())
  await pass(1_000)
  look()
  for (const { agent } of tabs) call(agent.destroy())
  await pass(3_000)
  look()
  const frames = [...emulator.world.sessions.keys()].map(session => emulator.control.frames(session))
  return JSON.stringify([seen, browser.written, frames])
}

describe('a card number, with masking and shared tabs', () => {
  it('[SEC-76] is in nothing that a host, a store, another tab or the service reads', async () => {
    const wire = fc.constantFrom<(typeof CAPABILITIES)[number][]>([], [...CAPABILITIES])
    await fc.assert(
      fc.asyncProperty(life, wire, async (steps, capabilities) => {
        expect(await play(steps, capabilities, 'billing')).not.toContain(CARD)
      }),
      { numRuns: propertyRuns(25) },
    )
  })

  it('[SEC-76] is found where masking is off, so that the property above looks in the right places', async () => {
    const steps: Step[] = [...beginning, { kind: 'send', tab: 0 }, { kind: 'wait', tab: 0 }]
    expect((await play(steps, [], 'help')).split(CARD).length).toBeGreaterThan(8)
  })
})
