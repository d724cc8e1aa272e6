import { AiAgent, type AiAgentConfig, MemoryCacheAdapter, MessageError } from '@aiagent/client'
import { createEmulator, type Emulator, type Fault } from '@aiagent/emulator'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { expect } from 'vitest'
import { Journal } from './journal.ts'
import { LeakWatch, type Outcome, outcomeOf } from './leak-watch.ts'
import { ObservedClock } from './observed-clock.ts'
import { reply, WORLD } from './world.ts'

/** A step of a run: a call of the host, elapsed time, or a fault. */
export type Step =
  | { readonly do: 'send'; readonly count: number }
  | { readonly do: 'initialize' | 'connect' | 'restart'; readonly givenUpAfterMs?: number | undefined }
  | { readonly do: 'disconnect'; readonly skip: boolean }
  | { readonly do: 'elapse'; readonly ms: number }
  | { readonly do: 'hide' | 'return' | 'sleep' | 'lift' }
  | { readonly do: 'fault'; readonly fault: Fault }

const giveUp = { givenUpAfterMs: fc.option(fc.constantFrom(0, 1, 50, 5_000), { nil: undefined }) }
const when = <Do extends Step['do']>(name: Do) => ({ do: fc.constant(name) })
const forMs = fc.constantFrom(1, 300, 3_000, 40_000)
const times = fc.integer({ min: 1, max: 4 })
const route = fc.constantFrom('GET /*', 'POST *', '*/session')
const fault = (kind: Fault['kind'], fields: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<Fault>

/** Faults that delay, refuse and break, but lose no written frame. */
const harmless: fc.Arbitrary<Fault>[] = [
  fault('drop', { code: fc.constantFrom(1000, 1001, 1006, 1011, 1013, 4000, 4404) }),
  fault('refuse-upgrade', { status: fc.constantFrom(401, 429, 500, 503), times }),
  fault('hang-upgrade', { forMs }),
  fault('answer', { route, status: fc.constantFrom(404, 429, 500, 503), times }),
  fault('answer', { route, status: fc.constant(200), body: fc.constantFrom('', '<html>', '{"a":', []), times }),
  fault('hang-request', { route, forMs }),
  fault('delay-requests', { ms: fc.constantFrom(1, 700, 12_000), jitterMs: fc.constant(100), times }),
  fault('truncate-body', { route, times }),
  fault('stall-body', { route, forMs }),
  fault('restart', { memory: fc.boolean(), downMs: fc.constantFrom(0, 50, 2_500), code: fc.constantFrom(1001, 1006) }),
  fault('end-session'),
  fault('forget-session'),
  fault('expire-tokens'),
  fault('push', {
    frame: fc.constantFrom<unknown>('not even JSON', { persona: 'agent', role: 'r', content: 'pushed' }),
  }),
]

/** Faults that also lose written frames. */
const lossy: fc.Arbitrary<Fault>[] = [
  fault('silence', { forMs, alsoLater: fc.boolean(), lost: fc.boolean() }),
  fault('lose-frames', { chance: fc.constantFrom(0.2, 1), forMs }),
  fault('delay-frames', { ms: fc.constantFrom(1, 400, 6_000), jitterMs: fc.constant(300), forMs }),
  fault('slow-link', { bytesPerSecond: fc.constantFrom(200, 20_000), forMs }),
]

const stepOf = (faults: fc.Arbitrary<Fault>[]): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ ...when('send'), count: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ ...when('initialize'), ...giveUp }) },
    { weight: 4, arbitrary: fc.record({ ...when('connect'), ...giveUp }) },
    { weight: 1, arbitrary: fc.record({ ...when('restart'), ...giveUp }) },
    { weight: 2, arbitrary: fc.record({ ...when('disconnect'), skip: fc.boolean() }) },
    { weight: 6, arbitrary: fc.record({ ...when('elapse'), ms: fc.constantFrom(1, 5, 60, 1_000, 11_000, 31_000) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('hide', 'return', 'sleep', 'lift') }) },
    { weight: 7, arbitrary: fc.record({ ...when('fault'), fault: fc.oneof(...faults) }) },
  )

const runOf = (isLossy: boolean, faults: fc.Arbitrary<Fault>[]) =>
  fc.record({
    isLossy: fc.constant(isLossy),
    startsConnected: fc.boolean(),
    recovers: fc.boolean(),
    steps: fc.array(stepOf(faults), { maxLength: 30, size: 'max' }),
  })

/** A run: its steps, its start and its end. */
export interface Run {
  /** Whether written frames may get lost. */
  readonly isLossy: boolean
  /** Whether the faults begin with an open chat. */
  readonly startsConnected: boolean
  /** Whether the faults end before the agent is destroyed. */
  readonly recovers: boolean
  readonly steps: readonly Step[]
}

export const anyRun: fc.Arbitrary<Run> = fc.oneof(runOf(false, harmless), runOf(true, [...harmless, ...lossy]))

/** Longer than any time limit of the client and any fault. */
const ALL_LIMITS_MS = 90_000

const CONFIG: Partial<AiAgentConfig> = { baseReconnectDelay: 100, maxReconnectDelay: 2_000, enableLogging: false }

/** Loads every chunk beforehand: reading files takes real time, which the clock of a run does not cover. */
export async function warmUp(): Promise<void> {
  const { fetch, WebSocket, origin } = createEmulator({ world: WORLD })
  const agent = new AiAgent({ id: 'help', endpoint: origin, enableLogging: false }, { fetch, WebSocket })
  await agent.initialize()
  await agent.destroy()
}

/** One run: an agent and its service in this process, on a clock that the steps advance. */
export class CampaignRun {
  readonly #clock = new ManualClock()
  /** The clock as the agent sees it. */
  readonly #agentClock = new ObservedClock(this.#clock)
  readonly #watch = new LeakWatch()
  readonly #emulator: Emulator = createEmulator({ world: WORLD, reply, clock: this.#clock })
  readonly #agent: AiAgent
  readonly #journal: Journal
  readonly #calls: Outcome[] = []
  /** Index of the run. */
  readonly #timers: number[] = []
  /** Contents of the accepted messages by id, in order. */
  readonly #accepted = new Map<string, string>()
  #sent = 0

  constructor() {
    const { fetch, WebSocket, origin } = this.#emulator
    const environment = {
      ...this.#watch.counting({ fetch, WebSocket, clock: this.#agentClock, memory: new MemoryCacheAdapter() }),
      page: this.#watch.page,
    }
    this.#agent = new AiAgent({ id: 'help', endpoint: origin, ...CONFIG }, environment)
    this.#journal = new Journal(this.#agent)
  }

  /** Runs the steps and checks the invariants after them. */
  async play({ isLossy, startsConnected, recovers, steps }: Run): Promise<void> {
    try {
      if (startsConnected) {
        await this.#agent.initialize()
        await this.#agent.connect()
      }
      for (const step of steps) {
        this.#take(step)
        if (step.do === 'elapse') await this.#clock.advance(step.ms)
        await turnEventLoop(6)
      }
      if (recovers) {
        await this.#recover()
        this.#checkMessages(isLossy)
      }
      await this.#end()
    } catch (error) {
      // Errors after a failure are only consequences.
      await this.#end().catch(() => {})
      await this.#watch.stop().catch(() => {})
      throw error
    }
    await this.#watch.stop()
  }

  async #end(): Promise<void> {
    for (const timer of this.#timers) this.#clock.clearTimeout(timer)
    const ending = outcomeOf(this.#agent.destroy())
    // A pending graceful disconnect may take a while.
    await this.#clock.advance(100)
    expect(ending).toEqual({ settled: true })
    this.#emulator.close()
    await turnEventLoop()
    expect(this.#calls.filter(({ settled }) => !settled)).toEqual([])
    expect(this.#watch.mostSockets).toBeLessThanOrEqual(1)
    expect(this.#agentClock.waiting).toBe(0)
    await this.#watch.expectNothingLeft()
  }

  #take(step: Step): void {
    switch (step.do) {
      case 'send':
        for (let left = step.count; left > 0; left--) this.#send()
        return
      case 'initialize':
        return this.#call(signal => this.#agent.initialize({ signal }), step.givenUpAfterMs)
      case 'connect':
        return this.#call(async signal => {
          await this.#agent.initialize({ signal })
          await this.#agent.connect({ signal })
        }, step.givenUpAfterMs)
      case 'restart':
        return this.#call(signal => this.#agent.restartConnection({ signal }), step.givenUpAfterMs)
      case 'disconnect':
        return this.#call(() => this.#agent.disconnect({ skipGracefulDisconnect: step.skip }))
      case 'elapse':
        return
      case 'hide':
        this.#watch.isPageHidden = true
        return
      case 'return':
        return this.#watch.comeBack()
      case 'sleep':
        return this.#clock.jump(45_000)
      case 'lift':
        return void this.#emulator.faults.lift()
      case 'fault':
        return void this.#emulator.faults.add(step.fault)
      default:
        return step satisfies never
    }
  }

  #send(): void {
    const content = `message ${this.#sent++}`
    const sending = this.#agent.send(content)
    this.#calls.push(outcomeOf(sending))
    sending.then(
      id => this.#accepted.set(id, content),
      () => {},
    )
  }

  #call(call: (signal: AbortSignal) => Promise<unknown>, givenUpAfterMs?: number): void {
    const controller = this.#watch.controller()
    if (givenUpAfterMs !== undefined)
      this.#timers.push(this.#clock.setTimeout(() => controller.abort(), givenUpAfterMs))
    this.#calls.push(outcomeOf(call(controller.signal)))
  }

  /** Ends all faults: every call settles, and the agent can chat again. */
  async #recover(): Promise<void> {
    this.#emulator.faults.lift()
    this.#watch.comeBack()
    await this.#rest()
    expect(this.#calls.filter(({ settled }) => !settled)).toEqual([])
    const preparing = outcomeOf(this.#agent.initialize())
    await this.#rest()
    expect(preparing).toEqual({ settled: true })
    const connecting = outcomeOf(this.#agent.connect())
    await this.#rest()
    // The session may be lost; then the agent created a new one.
    if (connecting.error !== undefined) expect(connecting.error).toMatchObject({ code: 'CONNECTION_ERROR' })
    expect(this.#agent.getState()).toBe('CONNECTED')
    const again = [outcomeOf(this.#agent.disconnect()), outcomeOf(this.#agent.connect())]
    await this.#clock.advance(1_000)
    expect([this.#agent.getState(), again]).toEqual(['CONNECTED', [{ settled: true }, { settled: true }]])
    this.#send()
    await this.#clock.advance(1_000)
    expect(this.#journal.answers.at(-1)).toBe(`You said: message ${this.#sent - 1}`)
    expect(this.#agent.getQueueSize()).toBe(0)
  }

  /** Lets all time limits pass. Response bodies take a few turns of the event loop, in which no time passes. */
  async #rest(): Promise<void> {
    for (let part = 0; part < 10; part++) {
      await turnEventLoop(10)
      await this.#clock.advance(ALL_LIMITS_MS / 10)
    }
  }

  #checkMessages(isLossy: boolean): void {
    const delivered = this.#delivered()
    const accepted = [...this.#accepted.values()]
    const numbers = delivered.map(content => Number(content.split(' ')[1]))
    expect(numbers, 'each at most once and in order').toEqual([...new Set(numbers)].sort((a, b) => a - b))
    expect(
      delivered.filter(content => !accepted.includes(content)),
      'no refused message',
    ).toEqual([])
    const toldLost = this.#journal.of('error').flatMap(({ error }) => {
      const id = error instanceof MessageError && error.reason === 'cleared' ? error.messageId : undefined
      return id === undefined ? [] : [this.#accepted.get(id) ?? `unknown ${id}`]
    })
    expect(
      toldLost.filter(content => delivered.includes(content)),
      'both lost and delivered',
    ).toEqual([])
    if (!isLossy) {
      const rest = accepted.filter(content => !delivered.includes(content) && !toldLost.includes(content))
      expect(rest, 'accepted, but neither delivered nor reported as lost').toEqual([])
    }
    this.#checkTranscript(accepted, toldLost)
  }

  /** Contents of the user messages, in the order of the sessions. */
  #delivered(): string[] {
    const { control } = this.#emulator
    const openings = control
      .requests()
      .flatMap(({ status, query }) => (status === 101 ? (query['sessionId'] ?? '') : []))
    return [...new Set(openings)].flatMap(id =>
      control.frames(id).flatMap(({ message }) => (message?.role === 'human' ? (message.content ?? '') : [])),
    )
  }

  /** The transcript equals the accepted and received messages since the last new conversation. */
  #checkTranscript(accepted: readonly string[], toldLost: readonly string[]): void {
    const updates = this.#journal.of('transcriptUpdate').map(({ entry }) => entry)
    const sent = updates.filter(({ direction }) => direction === 'sent').map(({ message }) => message.content)
    // A message that was dropped before initialization was never recorded.
    expect(sent).toEqual(accepted.filter(content => sent.includes(content) || !toldLost.includes(content)))
    // Messages that were recovered after an outage have no `message` event.
    const received = updates
      .filter(({ direction, recovered }) => direction === 'received' && !recovered)
      .map(({ message }) => message)
    const heard = this.#journal.of('message').map(({ data }) => data)
    expect(received).toEqual(heard.filter(data => typeof data === 'object'))
    // A recovered message is inserted where it belongs, not at the end.
    const kept = this.#agent.getTranscript().filter(({ recovered }) => !recovered)
    const live = updates.filter(({ recovered }) => !recovered)
    expect(kept).toEqual(live.slice(live.length - kept.length))
  }
}
