import type { AiAgent } from '@aiagent/client'
import type { StandingFault } from '@aiagent/emulator'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { outcomeOf, watched } from '../leak-watch.ts'
import { newTab, reloaded } from '../tab.ts'
import { verifiesOnEachWire } from '../verifies.ts'
import type { Service } from '../wire.ts'

/** Time limit of a REST call. */
const CALL_LIMIT_MS = 30_000

/** Every call of an anonymous agent up to its session. */
const CALLS = 5

/** Sends a message and waits for its answer. */
async function converse(service: Service, agent: AiAgent, text: string): Promise<void> {
  const journal = new Journal(agent)
  await agent.connect()
  await agent.send(text)
  await eventually(() => journal.answers.includes(`You said: ${text}`))
  expect(service.said()).toEqual([text])
}

const TROUBLES: Record<string, { fault: StandingFault; waits?: true; isRepeated?: true; says: object }> = {
  'is answered with 503': {
    fault: { kind: 'answer', status: 503, body: { message: 'Come back later' } },
    says: { status: 503 },
  },
  'is answered with a page of HTML': {
    fault: { kind: 'answer', status: 200, body: '<!doctype html><title>Maintenance</title>' },
    says: {},
  },
  'is answered with an empty body': { fault: { kind: 'answer', status: 200, body: '' }, says: {} },
  'breaks off within its response': { fault: { kind: 'truncate-body' }, says: {} },
  // Over a port the client repeats a GET, whose connection may have been closed before it was sent.
  'breaks off before its response': {
    fault: { kind: 'truncate-body', afterBytes: 0 },
    isRepeated: true,
    says: {},
  },
  'stalls within its response': { fault: { kind: 'stall-body' }, waits: true, says: { reason: 'timeout' } },
  'gets no response': { fault: { kind: 'hang-request' }, waits: true, says: { reason: 'timeout' } },
}

for (const [name, { fault, waits, isRepeated, says }] of Object.entries(TROUBLES)) {
  verifiesOnEachWire(
    ['OWN-01', 'REST-09'],
    `initialize() settles when any of its calls ${name}, and the next run works`,
    watched(async (service, watch) => {
      for (let turn = 0; turn < CALLS; turn++) {
        service.faults.add({ ...fault, times: isRepeated ? 2 : 1, ...(turn > 0 && { after: turn }) } as StandingFault)
        const agent = service.newAgent({}, watch.counting(service.environment()))
        const journal = new Journal(agent)
        const { signal } = watch.controller()
        const first = outcomeOf(agent.initialize({ signal }))
        await eventually(() => first.settled || (waits && service.faults.inForce().every(({ hits }) => hits > 0)))
        if (waits) {
          expect(first.settled, `call ${turn + 1}`).toBe(false)
          // The limit of the request, and where a token is requested the limit of obtaining it.
          expect(new Set(service.clock.pending)).toEqual(new Set([CALL_LIMIT_MS]))
          expect(service.clock.pending.length).toBeLessThanOrEqual(2)
          await service.elapse(CALL_LIMIT_MS)
          await eventually(() => first.settled)
        }
        expect(first.error, `call ${turn + 1}`).toMatchObject({
          name: expect.stringMatching(/Error$/),
          code: expect.any(String),
        })
        if (turn === 0) expect(first.error).toMatchObject({ code: 'API_ERROR', ...says })
        expect(agent.getIsInitialized()).toBe(false)
        expect(service.clock.pending).toEqual([])
        const left = service.faults.lift()
        if (!isRepeated) expect(left).toBe(waits ? 1 : 0)
        expect(journal.of('initialized')).toEqual([])
        await agent.initialize({ signal })
        await converse(service, agent, `after the failure of call ${turn + 1}`)
        await agent.destroy()
        await watch.expectNothingLeft()
      }
    }),
    { time: 'by hand' },
  )
}

verifiesOnEachWire(
  ['OWN-01', 'ERR-04'],
  'a session call that fails three times rejects three times, and the fourth run repeats only this call',
  watched(async service => {
    service.faults.add({ kind: 'answer', route: 'POST */session', status: 502, times: 3 })
    const agent = service.newAgent()
    for (let run = 0; run < 3; run++)
      await expect(agent.initialize()).rejects.toMatchObject({ code: 'API_ERROR', reason: 'status', status: 502 })
    const before = service.control.requests().length
    await agent.initialize()
    expect(
      service.control
        .requests()
        .slice(before)
        .map(({ method }) => method),
    ).toEqual(['POST'])
    await converse(service, agent, 'at last')
  }),
)

verifiesOnEachWire(
  'OWN-01',
  'initialize() rejects while the service restarts, and works once it is back',
  watched(async service => {
    service.faults.add({ kind: 'hang-request', route: 'POST */session' })
    const agent = service.newAgent()
    const first = outcomeOf(agent.initialize())
    await eventually(() => service.faults.inForce().some(({ hits }) => hits > 0))
    service.faults.add({ kind: 'restart', downMs: 200 })
    await eventually(() => first.settled)
    expect(first.error).toMatchObject({ code: 'API_ERROR', reason: 'network' })
    service.faults.lift()
    await expect(agent.initialize()).rejects.toMatchObject({ code: 'API_ERROR', reason: 'network' })
    await service.elapse(200)
    await agent.initialize()
    await converse(service, agent, 'back again')
  }),
  { time: 'by hand' },
)

verifiesOnEachWire(
  ['OWN-01', 'REST-01'],
  'a stored token that the service no longer accepts is replaced when another agent starts with it',
  watched(async service => {
    const tab = newTab()
    await service.newAgent({}, service.environment(tab)).initialize()
    service.faults.add({ kind: 'expire-tokens' })
    const agent = service.newAgent({ id: 'strict' }, service.environment(reloaded(tab)))
    await agent.initialize()
    await converse(service, agent, 'hello again')
    expect(service.requestsTo(paths.agentDetails('strict')).map(({ status }) => status)).toEqual([401, 200])
  }),
)

verifiesOnEachWire(
  ['OWN-01', 'REST-09'],
  "a host's token that the service no longer accepts rejects with a clear error",
  watched(async service => {
    const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
    service.faults.add({ kind: 'expire-tokens' })
    await expect(service.newAgent({ auth }).initialize()).rejects.toMatchObject({ code: 'API_ERROR', status: 401 })
  }),
)
