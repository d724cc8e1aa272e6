import { getEventListeners } from 'node:events'
import { checkDelivery, receivedIn } from './checks/delivery.ts'
import { checkTranscript } from './checks/transcript.ts'
import { checkHeldData, checkSharedData } from './checks/user-data.ts'
import type { RunCounts, RunResult, Violation, ViolationKind } from './checks/violation.ts'
import { FakePage } from './host/fake-page.ts'
import { Host } from './host/host.ts'
import { isLossless, type Schedule, type Step } from './schedule/step.ts'
import { InProcessService } from './service/in-process-service.ts'
import { ProxiedService } from './service/proxied-service.ts'
import { turnEventLoop } from './service/run-clock.ts'
import { answerTo, type RunService, type TcpStep } from './service/service.ts'

/** Longer than any time limit of the client, and any fault. In milliseconds of the run's clock. */
const ALL_LIMITS_MS = 180_000

/** How long the agent may take to chat again once all faults are over, in milliseconds of the run's clock. */
const RECOVERY_LIMIT_MS = 120_000

/** How finely conditions are looked at while time passes, in milliseconds of the run's clock. */
const LOOK_EVERY_MS = 500

/** Plays one run to its end and checks it. */
export async function play(schedule: Schedule): Promise<RunResult> {
  const { seed, setup, transport } = schedule
  if (transport === 'proxied') return new Run(schedule, await ProxiedService.start(setup, seed)).play()
  const page = setup.hasPage ? new FakePage() : undefined
  const uninstall = page?.install()
  try {
    return await new Run(schedule, new InProcessService(setup, seed), page).play()
  } finally {
    uninstall?.()
  }
}

class Run {
  readonly #schedule: Schedule
  readonly #service: RunService
  readonly #page: FakePage | undefined
  readonly #host: Host
  readonly #violations: Violation[] = []
  readonly #timers = new Set<unknown>()

  constructor(schedule: Schedule, service: RunService, page?: FakePage) {
    this.#schedule = schedule
    this.#service = service
    this.#page = page
    this.#host = new Host(service, schedule)
  }

  async play(): Promise<RunResult> {
    const { setup, steps, seed } = this.#schedule
    if (setup.startsConnected) {
      this.#host.take({ do: 'connect' })
      await this.#until(() => this.#host.pending.length === 0, 20_000)
    }
    for (const step of steps) await this.#take(step)
    if (setup.recovers) await this.#recover()
    await this.#checkUserData()
    await this.#end()
    this.#checkMessages()
    return { seed, violations: this.#violations, counts: this.#count() }
  }

  #fail(kind: ViolationKind, text: string): void {
    this.#violations.push({ kind, text })
  }

  async #take(step: Step): Promise<void> {
    const { clock } = this.#service
    const user = this.#host.user
    if (!this.#host.take(step)) this.#break(step)
    if (step.do === 'elapse') await clock.advance(step.ms)
    else await turnEventLoop()
    if (this.#host.user !== user) await this.#checkUserData()
  }

  #break(step: Step): void {
    const { clock, emulator } = this.#service
    switch (step.do) {
      case 'fault':
        emulator.faults.add(step.fault)
        return
      case 'lift':
        emulator.faults.lift()
        return
      case 'half-open':
        return this.#halfOpen(step.forMs, step.alsoLater)
      case 'hide':
        return this.#page?.hide()
      case 'return':
        return this.#page?.return()
      case 'sleep':
        return clock.sleep(step.ms)
      case 'shift-clock':
        return clock.shiftWallClock(step.ms)
      default:
        if (step.do.startsWith('tcp-')) this.#service.applyTcp(step as TcpStep)
    }
  }

  /** Loses every frame for a while; then the connection breaks, so that only the last frames are missing, as with TCP. */
  #halfOpen(forMs: number, alsoLater: boolean): void {
    const { clock, emulator } = this.#service
    const { id } = emulator.faults.add({ kind: 'silence', lost: true, alsoLater })
    const timer = clock.service.setTimeout(() => {
      this.#timers.delete(timer)
      emulator.faults.add({ kind: 'drop' })
      emulator.faults.lift({ id })
    }, forMs)
    this.#timers.add(timer)
  }

  /** Ends all faults. Then every call settles, and the agent can chat again. */
  async #recover(): Promise<void> {
    const { clock, emulator } = this.#service
    const host = this.#host
    for (const timer of this.#timers) clock.service.clearTimeout(timer)
    // What half-open connections lost stays lost: they break before the silence is lifted.
    emulator.faults.add({ kind: 'drop' })
    emulator.faults.lift()
    this.#service.heal()
    clock.restoreWallClock()
    this.#page?.return()
    if (!(await this.#until(() => host.pending.length === 0, ALL_LIMITS_MS)))
      return this.#fail('hung', `not settled after all faults: ${host.pending.join(', ')}`)
    if (!(await this.#isConnectedAgain())) return
    // The history that comes with a reopening tells what was missed.
    host.call('disconnect()', host.agent.disconnect())
    await this.#until(() => host.pending.length === 0, 10_000)
    if (!(await this.#isConnectedAgain())) return
    const last = host.send()
    const isAnswered = () => host.events.answers.includes(answerTo(last.content))
    if (!(await this.#until(isAnswered, RECOVERY_LIMIT_MS)))
      return this.#fail('stuck', `no answer after all faults; ${host.agent.getState()}`)
    await clock.advance(2_000)
    if (host.agent.getQueueSize() > 0) this.#fail('stuck', `${host.agent.getQueueSize()} messages stay in the queue`)
    const session = this.#service.sessions.findLast(each => receivedIn(each).includes(last.content))
    this.#violations.push(...checkTranscript(host, session))
  }

  /** Initializes and connects, again when needed, as a host does whose user clicks once more. */
  async #isConnectedAgain(): Promise<boolean> {
    const { agent } = this.#host
    const end = this.#service.clock.elapsed() + RECOVERY_LIMIT_MS
    let error: unknown
    while (this.#service.clock.elapsed() < end) {
      const call = this.#host.call(
        'connect() after all faults',
        agent.initialize().then(() => agent.connect()),
      )
      if (!(await this.#until(() => call.settled, ALL_LIMITS_MS))) {
        this.#fail('hung', `${call.name} has not settled`)
        return false
      }
      error = call.error
      if (await this.#until(() => agent.getState() === 'CONNECTED', 5_000)) return true
    }
    this.#fail('stuck', `not connected after all faults: ${agent.getState()}, ${String(error)}`)
    return false
  }

  async #end(): Promise<void> {
    const { clock } = this.#service
    const host = this.#host
    host.stop()
    for (const timer of this.#timers) clock.service.clearTimeout(timer)
    const ending = host.call('destroy()', host.agent.destroy())
    await this.#until(() => host.pending.length === 0, 5_000)
    if (!ending.settled) this.#fail('hung', 'destroy() has not settled')
    if (host.pending.length > 0) this.#fail('hung', `not settled after destroy(): ${host.pending.join(', ')}`)
    await this.#service.close()
    await this.#until(() => this.#service.openSockets === 0, 5_000)
    const leaks = {
      timers: clock.agentTimers,
      sockets: this.#service.openSockets,
      'page listeners': this.#page?.listeners ?? 0,
      'signal listeners': host.signals.flatMap(signal => getEventListeners(signal, 'abort')).length,
      'sockets at the same time': Math.max(0, this.#service.mostSockets - 1),
    }
    for (const [name, count] of Object.entries(leaks))
      if (count > 0 && (name !== 'sockets at the same time' || this.#schedule.transport === 'in-process'))
        this.#fail('leaked', `${count} ${name}`)
  }

  async #checkUserData(): Promise<void> {
    if (!this.#host.isLeaving) this.#violations.push(...(await checkHeldData(this.#host)))
  }

  #checkMessages(): void {
    const { sessions } = this.#service
    const mustArrive = isLossless(this.#schedule) && this.#schedule.setup.recovers && this.#violations.length === 0
    this.#violations.push(
      ...checkDelivery(this.#host, sessions, mustArrive),
      ...checkSharedData(this.#host, sessions, this.#schedule.setup.agent === 'account'),
    )
  }

  #count(): RunCounts {
    const accepted = this.#host.messages.filter(({ kind, result }) => kind === 'send' && result === 'accepted')
    const arrived = new Set(this.#service.sessions.flatMap(receivedIn))
    return {
      messages: accepted.length,
      arrived: accepted.filter(({ content }) => arrived.has(content)).length,
      failed: accepted.filter(({ id }) => id !== undefined && this.#host.events.dropped.has(id)).length,
      unknown: 0,
      recovered: 0,
    }
  }

  /** Lets time pass until a condition holds, or the limit is over. Returns whether it holds. */
  async #until(holds: () => boolean, limitMs: number): Promise<boolean> {
    const { clock } = this.#service
    const end = clock.elapsed() + limitMs
    await turnEventLoop()
    while (!holds()) {
      if (clock.elapsed() >= end) return false
      await clock.advance(LOOK_EVERY_MS)
    }
    return true
  }
}
