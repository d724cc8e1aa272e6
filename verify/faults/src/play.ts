import { getEventListeners } from 'node:events'
import { checkDelivery, receivedIn } from './checks/delivery.ts'
import { checkEvents, checkTranscript } from './checks/transcript.ts'
import { checkExports, checkHeldData, checkSharedData } from './checks/user-data.ts'
import type { RunCounts, RunResult, Violation, ViolationKind } from './checks/violation.ts'
import { FakePage } from './host/fake-page.ts'
import { Host } from './host/host.ts'
import type { Schedule, Step } from './schedule/step.ts'
import { InProcessService } from './service/in-process-service.ts'
import { ProxiedService } from './service/proxied-service.ts'
import { turnEventLoop } from './service/run-clock.ts'
import { answerTo, type RunService, type TcpStep } from './service/service.ts'

/** Longest time that a removal of stored data may take, in milliseconds. */
const REMOVAL_LIMIT_MS = 10_000

/** Longer than any time limit of the client, and any fault. In milliseconds of the run's clock. */
const ALL_LIMITS_MS = 180_000

/** How long the agent may take to chat again once all faults are over, in milliseconds of the run's clock. */
const RECOVERY_LIMIT_MS = 120_000

/** How long the history of a reopened chat may take, in milliseconds of the run's clock. */
const HISTORY_LIMIT_MS = 8_000

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
  #notes = 0
  /** Whether all faults ended and the agent chatted again. */
  #hasRecovered = false

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
    this.#violations.push(...checkExports(this.#host, this.#service.sessions))
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
      case 'reload':
        return step.how === 'crash' ? this.#host.crash() : this.#host.replace()
      case 'agent-says':
        return this.#say()
      case 'lift':
        // A connection that has lost frames breaks before it would go on.
        if (this.#timers.size > 0) emulator.faults.add({ kind: 'drop' })
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

  #say(): void {
    // What is said before the first opening is the host's to fetch: nothing was interrupted.
    const session = this.#service.sessions.findLast(({ ended, connections }) => !ended && connections > 0)
    if (!session || !this.#service.emulator.world.sessions.has(session.id)) return
    this.#service.emulator.control.say(session.id, { content: `Note ${++this.#notes}` })
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
    // A connection that was cut while its frames were delayed may still look open.
    if (!(await this.#reopen())) return
    const { store } = host
    if (store) await this.#until(() => host.knowsStored(), 2 * store.lagMs)
    // A full queue refuses the message.
    if (!(await this.#until(() => host.agent.getQueueSize() === 0, RECOVERY_LIMIT_MS)))
      return this.#fail('stuck', `${host.agent.getQueueSize()} messages stay in the queue after all faults`)
    const last = host.send()
    const isAnswered = () => host.events.answers.includes(answerTo(last.content))
    if (!(await this.#until(isAnswered, RECOVERY_LIMIT_MS)))
      return this.#fail('stuck', `no answer after all faults; ${host.agent.getState()}`)
    // The history that comes with a reopening tells what was missed, and what has arrived.
    if (!(await this.#reopen())) return
    await clock.advance(HISTORY_LIMIT_MS)
    if (host.agent.getQueueSize() > 0) this.#fail('stuck', `${host.agent.getQueueSize()} messages stay in the queue`)
    const session = this.#service.sessions.findLast(each => receivedIn(each).includes(last.content))
    const { transport, setup } = this.#schedule
    const { capabilities, delivery } = setup
    const isRetried = host.messages.some(({ retriedAt }) => retriedAt.length > 0)
    const mayRepeat = isRetried || (delivery === 'at-least-once' && !capabilities.includes('receipts'))
    let differences = checkTranscript(host, session, mayRepeat)
    // Where time is real and the machine is busy, a time limit of the client may have ended the request for the history.
    for (let left = transport === 'proxied' ? 3 : 0; left > 0 && differences.length > 0; left--) {
      if (!(await this.#reopen())) return
      await clock.advance(HISTORY_LIMIT_MS)
      differences = checkTranscript(host, session, mayRepeat)
    }
    this.#violations.push(...differences)
    this.#hasRecovered = true
  }

  async #reopen(): Promise<boolean> {
    const call = this.#host.call('disconnect() after all faults', this.#host.agent.disconnect())
    if (await this.#until(() => call.settled, 10_000)) return this.#isConnectedAgain()
    this.#fail('hung', `${call.name} has not settled`)
    return false
  }

  /** Initializes and connects, again when needed, as a host does whose user clicks once more. */
  async #isConnectedAgain(): Promise<boolean> {
    const { agent } = this.#host
    const end = this.#service.clock.elapsed() + RECOVERY_LIMIT_MS
    let error: unknown
    while (this.#service.clock.elapsed() < end) {
      const call = this.#host.call('connect() after all faults', this.#host.connect())
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
    // A sign-out goes on until the data is gone.
    const late = () => host.pending.filter(name => name !== 'logout()')
    await this.#until(() => late().length === 0, 5_000)
    if (!ending.settled) this.#fail('hung', 'destroy() has not settled')
    if (late().length === 0) await this.#until(() => host.pending.length === 0, REMOVAL_LIMIT_MS)
    if (host.pending.length > 0) this.#fail('hung', `not settled after destroy(): ${host.pending.join(', ')}`)
    await this.#service.close()
    await this.#until(() => this.#service.openSockets === 0, 5_000)
    // The time limit of a store operation ends with the operation.
    if (host.store) await this.#until(() => clock.agentTimers === 0, host.store.lagMs)
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
    this.#violations.push(
      ...checkDelivery(this.#host, sessions, this.#schedule, this.#hasRecovered),
      ...(this.#schedule.setup.capabilities.includes('resume') ? [] : checkEvents(this.#host)),
      ...checkSharedData(this.#host, sessions, this.#schedule.setup.agent !== 'help'),
    )
  }

  #count(): RunCounts {
    const accepted = this.#host.messages.filter(({ kind, result }) => kind === 'send' && result === 'accepted')
    const arrived = new Set(this.#service.sessions.flatMap(receivedIn))
    const count = (...fates: unknown[]) => accepted.filter(({ fate }) => fates.includes(fate)).length
    return {
      messages: accepted.length,
      arrived: accepted.filter(({ content }) => arrived.has(content)).length,
      acknowledged: count('acknowledged'),
      failed: count('failed', 'cancelled'),
      unknown: count('unknown'),
      recovered: this.#host.events.recovered,
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
