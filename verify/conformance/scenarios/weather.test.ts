import { SDKError } from '@aiagent/client'
import { type StandingFault, WEATHERS } from '@aiagent/emulator'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { ALL_WEATHERS } from '../weathers.ts'
import type { Service } from '../wire.ts'

/** How long a client may need, in seconds of its clock. */
const LIMIT_SECONDS = 120

/** Lets the time of client and service pass until a promise settles. */
async function passing<T>(service: Service, promise: Promise<T>): Promise<T> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  for (let step = 0; !settled && step < 2 * LIMIT_SECONDS; step++) await service.elapse(500)
  expect(settled, 'the promise settled').toBe(true)
  return promise
}

/** Connects an agent. The first attempt may fail: others follow. */
async function connect(service: Service, agent: ReturnType<Service['newAgent']>): Promise<void> {
  await passing(service, agent.connect()).catch(() => {})
  for (let step = 0; !agent.isConnected() && step < 2 * LIMIT_SECONDS; step++) await service.elapse(500)
}

/** What was said by the user and the agent, in order. */
const linesOf = (agent: ReturnType<Service['newAgent']>) =>
  agent
    .getTranscript()
    .filter(({ message: { persona } }) => persona === 'customer' || persona === 'agent')
    .map(({ message: { content } }) => content)

const exchange = (...texts: string[]) => texts.flatMap(text => [text, `You said: ${text}`])

/** The weathers that end with an action of the user: the host shows why, and starts again. */
const SIGNS_IN: ReadonlySet<string> = new Set(['captive portal', 'proxy sign-in'])

/** Waits after the answers that named one, until the next request, in milliseconds. */
function waitsOf(service: Service): number[] {
  const all = service.everyRequest()
  return all.flatMap(({ status, fault, at }, index) => {
    const next = all[index + 1]
    return fault && next && (status === 429 || status === 503) ? next.at - at : []
  })
}

const plays = (title: string, run: (service: Service) => Promise<void>) =>
  verifies('REL-258', title, run, { entersWeather: true })

for (const name of ALL_WEATHERS) {
  const { passing: faults, staying } = WEATHERS[name]
  plays(`a conversation has the same outcome with this on the way: ${name}`, async service => {
    // Before the weather: it is the agent that is patient, and not its caller.
    const agent = service.newAgent({ retryInitialize: true })
    service.enter(name)
    if (SIGNS_IN.has(name)) await expect(passing(service, agent.initialize())).rejects.toThrow(REASONS[name] as RegExp)
    await passing(service, agent.initialize())
    await connect(service, agent)
    for (const text of ['one', 'two']) await passing(service, agent.ask(text))
    service.control.dropSockets(1012)
    await eventually(() => !agent.isConnected())
    expect((await passing(service, agent.ask('three'))).content).toBe('You said: three')
    await service.elapse(20_000)
    expect((await passing(service, agent.ask('four'))).content).toBe('You said: four')
    expect(linesOf(agent)).toEqual(exchange('one', 'two', 'three', 'four'))
    expect(service.said()).toEqual(['one', 'two', 'three', 'four'])
    // A second is the least wait, whatever form the header has.
    expect(Math.min(...waitsOf(service), Infinity)).toBeGreaterThanOrEqual(1_000)
    expect(faults.length).toBeGreaterThan(0)
  })

  if (staying?.some(({ kind }) => kind === 'rate-limit' || kind === 'answer') && !SIGNS_IN.has(name))
    plays(`nothing is asked before the time that the service named: ${name}`, async service => {
      const agent = service.newAgent({ retryInitialize: true }, { ...service.environment(), random: () => 0 })
      for (const fault of staying) service.faults.add(fault)
      const ready = agent.initialize()
      await service.elapse(20_000)
      service.faults.lift()
      await passing(service, ready)
      const waits = waitsOf(service)
      expect(waits.length).toBeGreaterThan(3)
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(2_000)
    })

  if (staying)
    plays(`an agent that must mask continues afterwards: ${name}`, async service => {
      const agent = service.newAgent({ id: 'billing', masking: { required: true } })
      for (const fault of staying)
        if (fault.kind !== 'refuse-upgrade')
          service.faults.add({ ...fault, route: 'GET *maskingpatterns*' } as StandingFault)
      await passing(service, agent.initialize())
      await expect(passing(service, agent.send('one'))).rejects.toMatchObject({ reason: 'masking_unavailable' })
      service.faults.lift()
      await connect(service, agent)
      await passing(
        service,
        service.until(() => agent.previewMasking('').isActive),
      )
      expect((await passing(service, agent.ask('two'))).content).toBe('You said: two')
    })

  if (staying)
    plays(`a start ends with an error that says why, and works later: ${name}`, async service => {
      for (const fault of staying) service.faults.add(fault)
      const agent = service.newAgent()
      const error = await passing(
        service,
        agent.initialize().then(
          () => undefined,
          (reason: unknown) => reason,
        ),
      )
      expect(error).toBeInstanceOf(SDKError)
      expect((error as Error).message).toMatch(REASONS[name] as RegExp)
      service.faults.lift()
      await passing(service, agent.initialize())
      await connect(service, agent)
      expect((await passing(service, agent.ask('one'))).content).toBe('You said: one')
    })

  if (staying)
    plays(`a conversation continues afterwards, and loses no message: ${name}`, async service => {
      const agent = await service.connectedAgent()
      await passing(service, agent.ask('one'))
      for (const fault of staying) service.faults.add(fault)
      if (!staying.some(({ kind }) => kind === 'refuse-upgrade'))
        service.faults.add({ kind: 'refuse-upgrade', status: 503 })
      service.control.dropSockets(1012)
      await eventually(() => !agent.isConnected())
      const asked = agent.ask('two')
      for (let seconds = 0; seconds < 30; seconds++) await service.elapse(1_000)
      expect(agent.getState()).toBe('RECONNECTING')
      service.faults.lift()
      expect((await passing(service, asked)).content).toBe('You said: two')
      expect(linesOf(agent)).toEqual(exchange('one', 'two'))
      expect(service.said()).toEqual(['one', 'two'])
    })
}

/** What the error of a start says, by weather. */
const REASONS: Partial<Record<(typeof ALL_WEATHERS)[number], RegExp>> = {
  'ended connections': /could not be reached/,
  'busy service': /429|limits the rate/,
  'service in repair': /503/,
  'captive portal': /HTML/,
  'proxy sign-in': /proxy/,
}
