import { paths } from '@aiagent/protocol'
import { propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setUpView } from '../../../view/test/view-harness.ts'
import { passing } from '../../test/agent-harness.ts'
import { HostStore } from '../../test/host-store.ts'
import { RecordingTracer } from '../../test/recording-tracer.ts'
import { LogLevel } from '../logger.ts'
import { instrument } from '../otel.ts'
import { createRecorder } from '../recorder.ts'

/*
 * Card numbers, planted in everything that a user writes and an agent answers. With masking, nothing that outlives the page or
 * leaves it holds one: the wire, recordings, telemetry, stores, the log. Texts are asked for wherever they can be.
 */

/** Of the user, and of the agent. */
const CARDS = ['4111 1111 1111 1111', '5500 0000 0000 0004'] as const
const TEXT = `my card is ${CARDS[0]}`
const RULES = `GET ${paths.maskingPatterns(1010, 'chat')}`

type Config = Parameters<ReturnType<typeof setUpView>['load']>[0]

/** A tab whose host asks for texts in recordings and telemetry, and everything that is kept of it. */
function setUpTraces(config: Config = {}) {
  const tab = setUpView({ reply: () => ({ content: `Take ${CARDS[1]} instead.` }) })
  const store = new HostStore()
  const kept: unknown[] = []
  const openPage = () => {
    const recorder = createRecorder({ content: true })
    const tracer = new RecordingTracer()
    const cache = config?.persistQueue ? { adapter: store, contextPrefix: 'one:' } : {}
    const { agent } = tab.load({ id: 'billing', cache, recorder, logLevel: LogLevel.TRACE, ...config })
    instrument(agent, { tracer, content: true })
    const view = tab.show(agent)
    // Exported whenever it is asked for: the recording is emptied at a sign-out.
    const look = () => kept.push(JSON.stringify([recorder.exportTrace(), tracer.spans]), stored())
    return { agent, view, look, recorder, tracer }
  }
  const stored = () => JSON.stringify([...tab.sessionStorage.items, ...store.entries])
  const wire = () => [...tab.emulator.world.sessions.keys()].flatMap(id => tab.emulator.control.frames(id))
  const everything = () => JSON.stringify([kept, tab.printed, wire()])
  return { ...tab, openPage, stored, everything }
}

type Traces = ReturnType<typeof setUpTraces>
type Page = ReturnType<Traces['openPage']>

const STEPS: Record<string, (page: Page, traces: Traces) => unknown> = {
  initialize: ({ agent }) => agent.initialize(),
  connect: ({ agent }) => agent.connect(),
  send: ({ agent }) => agent.send(TEXT),
  ask: ({ agent }) => agent.ask(TEXT),
  'send by the view': ({ view }) => view.send(TEXT),
  draft: ({ view }) => view.setDraft(TEXT),
  'short draft': ({ view }) => view.setDraft('hello'),
  restart: ({ agent }) => agent.restartConnection(),
  logout: ({ agent }) => agent.logout(),
  drop: (_, { emulator }) => emulator.control.dropSockets(),
  wait: (_, { clock }) => clock.advance(50),
  look: ({ look }) => look(),
}
const FAULTS: typeof STEPS = {
  'rules fail': (_, { emulator }) => emulator.faults.add({ kind: 'answer', route: RULES, status: 500 }),
  'rules are there': (_, { emulator }) => emulator.faults.lift(),
  ...STEPS,
}

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([
  import('./load-masker.ts'),
  import('../resume/stored-queue.ts'),
  import('../resume/session-resume.ts'),
])

/** How far a page has come before the other steps. */
const beginning = fc.constantFrom([], ['initialize', 'wait', 'wait'], ['initialize', 'wait', 'wait', 'connect', 'wait'])
const stepsOf = (steps: typeof STEPS) =>
  fc
    .tuple(beginning, fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 12 }))
    .map(([start, others]) => [...start, ...others])

describe('with masking, a card number', () => {
  it.each([true, false])('[SEC-76] is in nothing that is kept (required: %s)', async required => {
    const steps = required ? FAULTS : STEPS
    const life = fc.array(stepsOf(steps), { minLength: 1, maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(life, fc.boolean(), async (pages, persistQueue) => {
        const traces = setUpTraces({ masking: { required }, persistQueue })
        const { clock, everything, openPage } = traces
        const pending: Promise<unknown>[] = []
        for (const page of pages) {
          const opened = openPage()
          for (const name of page) {
            pending.push(Promise.resolve(steps[name]?.(opened, traces)).catch(() => {}))
            await turnEventLoop(2)
          }
          opened.look()
          await passing(clock, Promise.all([opened.view.destroy(), opened.agent.destroy()]))
          opened.look()
        }
        await passing(clock, Promise.all(pending))
        for (const card of CARDS) expect(everything()).not.toContain(card)
      }),
      { numRuns: propertyRuns(40) },
    )
  })

  it('[SEC-76] is found where masking is off, so that the property above looks in the right places', async () => {
    const traces = setUpTraces({ id: 'help' })
    const { agent, view, look, tracer, recorder } = traces.openPage()
    await view.start()
    await agent.ask(TEXT)
    view.setDraft(TEXT)
    await turnEventLoop(5)
    look()
    for (const place of [recorder.exportTrace(), tracer.spans])
      for (const card of CARDS) expect(JSON.stringify(place)).toContain(card)
    expect(traces.stored()).toContain(CARDS[0])
    await view.destroy()
    await agent.destroy()
  })
})

describe('with required masking and no rules', () => {
  it('[SEC-76] a draft stays in memory until there are rules, and then is stored masked', async () => {
    const traces = setUpTraces({ masking: { required: true } })
    const { emulator, clock, stored } = traces
    emulator.faults.add({ kind: 'answer', route: RULES, status: 500 })
    const { agent, view, look } = traces.openPage()
    await view.start()
    view.setDraft(TEXT)
    await turnEventLoop(5)
    expect(view.getSnapshot().draft).toBe(TEXT)
    expect(agent.previewMasking(TEXT)).toEqual({ isActive: false, isBlocked: true, content: TEXT, spans: [] })
    expect(await agent.getSessionData()).toMatchObject({ draft: '' })
    emulator.faults.lift()
    await passing(clock, agent.restartConnection())
    await turnEventLoop(10)
    expect(stored()).toContain(`my card is ${'*'.repeat(15)}1111`)
    expect(view.getSnapshot().draft).toBe(TEXT)
    look()
    expect(traces.everything()).not.toContain(CARDS[0])
    await view.destroy()
    await agent.destroy()
  })

  it('[SEC-76] a draft that an earlier page stored is taken out of the store, and shown', async () => {
    const traces = setUpTraces({ masking: { required: true } })
    const first = traces.openPage()
    await first.view.start()
    await first.agent.setSessionData({ draft: TEXT })
    await first.agent.destroy()
    expect(traces.stored()).toContain(CARDS[0])
    traces.emulator.faults.add({ kind: 'answer', route: RULES, status: 500 })
    const { agent, view } = traces.openPage()
    await view.start()
    await turnEventLoop(10)
    expect(view.getSnapshot().draft).toBe(TEXT)
    expect(traces.stored()).not.toContain(CARDS[0])
    await passing(traces.clock, agent.logout())
    await view.start()
    await turnEventLoop(10)
    expect([view.getSnapshot().draft, traces.stored()]).toEqual(['', expect.not.stringContaining(CARDS[0])])
    await view.destroy()
    await agent.destroy()
  })

  it('[SEC-76] a refused text is a hash in a recording with content', async () => {
    const traces = setUpTraces({ masking: { required: true } })
    traces.emulator.faults.add({ kind: 'answer', route: RULES, status: 500 })
    const { agent, recorder } = traces.openPage()
    const texts = () =>
      recorder.exportTrace().entries.flatMap(entry => (entry.kind === 'call' ? (entry.text ?? []) : []))
    await agent.send(TEXT)
    await agent.initialize()
    await expect(agent.send(TEXT)).rejects.toMatchObject({ reason: 'masking_unavailable' })
    expect(texts()).toEqual([expect.stringMatching(/^#[\da-f]{12}:30$/), expect.stringMatching(/^#[\da-f]{12}:30$/)])
    traces.emulator.faults.lift()
    await passing(traces.clock, agent.restartConnection())
    await agent.send(TEXT)
    expect(texts().at(-1)).toBe(`my card is ${'*'.repeat(15)}1111`)
    await agent.destroy()
  })
})

describe('a sign-out', () => {
  it('[SEC-15] while a stored draft is read leaves it to nobody', async () => {
    const drafts: string[] = []
    for (let turns = 0; turns < 12; turns++) {
      const traces = setUpTraces({ id: 'help' })
      const first = traces.openPage()
      await first.view.start()
      first.view.setDraft('half a secret')
      await first.view.destroy()
      await first.agent.destroy()
      const { agent, view } = traces.openPage()
      let left: Promise<void> | undefined
      const leave = async () => {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve()
        left ??= agent.logout()
      }
      agent.on('initialized', () => void leave())
      await view.start().catch(() => {})
      await turnEventLoop(2)
      await passing(traces.clock, left ?? Promise.reject(new Error('There was no sign-out.')))
      drafts.push(view.getSnapshot().draft)
      await agent.initialize()
      await turnEventLoop(5)
      drafts.push(view.getSnapshot().draft, traces.stored().includes('secret') ? 'stored' : '')
      await view.destroy()
      await agent.destroy()
    }
    expect(new Set(drafts)).toEqual(new Set(['']))
  })
})
