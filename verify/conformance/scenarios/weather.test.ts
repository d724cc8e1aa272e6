import { SDKError } from '@aiagent/client'
import { WEATHERS } from '@aiagent/emulator'
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

for (const name of ALL_WEATHERS) {
  const { passing: faults, staying } = WEATHERS[name]
  if (faults.length > 0)
    verifies('REL-258', `a conversation has the same outcome with this on the way: ${name}`, async service => {
      service.enter(name)
      const agent = service.newAgent({ retryInitialize: true })
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
    })

  if (staying)
    verifies('REL-258', `a start ends with an error that says why, and works later: ${name}`, async service => {
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
    verifies('REL-258', `a conversation goes on after it, and loses no message: ${name}`, async service => {
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
