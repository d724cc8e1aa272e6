import { readFileSync } from 'node:fs'
import { LogLevel } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually, FakeWebSocket } from '@aiagent/test-support'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type Burst, serveBurst } from '../burst-server.ts'
import { Journal } from '../journal.ts'
import { watched } from '../leak-watch.ts'
import { verifiesAlone, verifiesOnEachWire } from '../verifies.ts'
import { overPort, type Service } from '../wire.ts'

const ANSWER = { persona: 'agent', role: 'customer support agent' }

/** JSON text with this depth of nesting. */
const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`

const HOSTILE: Record<string, string> = {
  'a content of 100 kB': JSON.stringify({ ...ANSWER, content: 'x'.repeat(100_000) }),
  'a content of 1 MB': JSON.stringify({ ...ANSWER, content: 'é'.repeat(1_000_000) }),
  'a list of 100,000 options': JSON.stringify({
    ...ANSWER,
    content: 'c',
    messageData: { options: Array(100_000).fill('o') },
  }),
  'an object of 50,000 fields': JSON.stringify({
    ...ANSWER,
    messageData: Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`field${index}`, index])),
  }),
  'messageData of 10,000 levels': `{"persona":"agent","role":"r","content":"c","messageData":${nested(10_000)}}`,
  'a history of 10,000 levels': `{"persona":"system","role":"chat history","messageData":{"chat_history":[${nested(10_000)}]}}`,
  'an unknown field of 10,000 levels': `{"persona":"agent","role":"r","content":"c","more":${nested(10_000)}}`,
  'a frame of 100,000 brackets': '['.repeat(100_000),
  '__proto__ as a member': '{"persona":"agent","role":"r","content":"c","__proto__":{"polluted":true}}',
  '__proto__ in messageData':
    '{"persona":"agent","role":"r","messageData":{"__proto__":{"polluted":true},"escalationData":{"__proto__":{"polluted":true}}}}',
  'constructor and prototype':
    '{"persona":"agent","role":"r","constructor":{"prototype":{"polluted":true}},"messageData":{"constructor":{"prototype":{"polluted":true}}}}',
  '__proto__ in a list':
    '{"persona":"system","role":"chat history","messageData":{"chat_history":[{"__proto__":{"polluted":true}}],"sources":[{"__proto__":{"polluted":true}}]}}',
  'names of an object as persona and role': '{"persona":"constructor","role":"__proto__","content":"toString"}',
  'lone surrogates and control characters': '{"persona":"agent","role":"r","content":"\\ud800\\u0000\\u202e"}',
  'a number beyond the range of a double': '{"persona":"agent","role":"r","timestamp":1e999,"content":"c"}',
}

verifiesOnEachWire(
  'WS-04',
  'no hostile frame pollutes a prototype, breaks the next frame, or ends the chat',
  watched(async service => {
    const agent = await service.connectedAgent({ logLevel: LogLevel.FATAL })
    const journal = new Journal(agent)
    let told = 0
    for (const [name, text] of Object.entries(HOSTILE)) {
      service.control.pushFrame(service.session, text)
      service.control.pushFrame(service.session, { ...ANSWER, content: `after ${name}` })
      await eventually(() => journal.answers.includes(`after ${name}`), `the frame after ${name}`)
      told += 2
      expect(journal.of('message'), name).toHaveLength(told)
      expectCleanPrototypes()
    }
    const entries = agent.getTranscriptAsJSON()
    expect(entries.length).toBeGreaterThan(told / 2)
    for (const { messageData } of entries) {
      expect(Reflect.getPrototypeOf(messageData ?? {})).toBe(Object.prototype)
      expect(messageData ?? {}).not.toHaveProperty('polluted')
    }
    expect([journal.of('closed'), service.openings.length]).toEqual([[], 1])
    await agent.send('still here')
    await eventually(() => journal.answers.includes('You said: still here'))
  }),
)

/** Values of every type, and some that code tends to trust. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, '', ' ', [], {}, [null], [[]], { length: -1 }, '__proto__'),
)
const MESSAGE_DATA_FIELDS = [
  'error_code',
  'contextValidationErrors',
  'chat_history',
  'options',
  'escalation',
  'escalationData',
  'sources',
  'reasoning',
  'workflowType',
  'workflowNodeType',
  'inputType',
  'context',
  'token',
]
const ESCALATION_FIELDS = ['live', 'liveDomain', 'entrypointUrl', 'phone', 'phoneNumber', 'sms', 'smsNumber', 'email']
const ROLES = [
  'customer support agent',
  'human',
  'error',
  'context validation',
  'chat history',
  'heartbeat',
  'stale_token',
  'expired_token',
  'token',
  'context',
  'graceful disconnect',
]
const anyFields = (names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names), anything, { maxKeys: 5, noNullPrototype: true })
const frame = fc
  .record({
    base: fc.oneof(
      fc.record({
        persona: fc.constantFrom<unknown>('agent', 'system', 'metadata', 'customer', 'observer'),
        role: fc.constantFrom<unknown>(...ROLES),
      }),
      fc.record({ persona: anything, role: anything }),
    ),
    fields: anyFields(['content', 'messageId', 'messageData', 'timestamp', 'from', 'to', 'persona', 'role', 'seq']),
    data: fc.option(anyFields(MESSAGE_DATA_FIELDS), { nil: undefined }),
    escalation: fc.option(anyFields(ESCALATION_FIELDS), { nil: undefined }),
  })
  .map(({ base, fields, data, escalation }) => ({
    ...base,
    ...fields,
    ...(data && { messageData: { ...data, ...(escalation && { escalationData: escalation }) } }),
  }))

verifiesOnEachWire(
  'WS-04',
  'wrong types in any field break neither the client nor the next frame, and every frame emits one event',
  watched(async (service, watch) => {
    const agent = await service.connectedAgent({ logLevel: LogLevel.FATAL })
    const journal = new Journal(agent)
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 40 }), async frames => {
        const { length } = journal.of('message')
        for (const each of frames) service.control.pushFrame(service.session, JSON.stringify(each))
        const last = `round ${++round}`
        service.control.pushFrame(service.session, { ...ANSWER, content: last })
        await eventually(() => journal.answers.at(-1) === last)
        expect(journal.of('message').length - length).toBe(frames.length + 1)
        expect(watch.unhandled).toEqual([])
        expectCleanPrototypes()
      }),
      { numRuns: 60, seed: 4 },
    )
    expect(journal.of('closed')).toEqual([])
    expect(service.printed.filter(line => /failed/.test(line))).toEqual([])
  }),
)

verifiesAlone(
  'WS-04',
  'binary frames of every kind are reported as unreadable, and the next frame is read',
  async () => {
    const service = await overPort.serve({})
    try {
      const raw = await service.rawService(restOf('ws://chat.example.test'))
      FakeWebSocket.reset()
      const agent = service.newAgent(
        { endpoint: raw.endpoint, auth: { getToken: async () => 'a token' }, logLevel: LogLevel.FATAL },
        { ...raw.environment, WebSocket: FakeWebSocket },
      )
      const journal = new Journal(agent)
      await agent.initialize()
      const connecting = agent.connect()
      await eventually(() => FakeWebSocket.made.length)
      FakeWebSocket.last.accept()
      await connecting
      const bytes = new TextEncoder().encode(JSON.stringify({ ...ANSWER, content: 'c' }))
      const binaries = [
        bytes,
        bytes.buffer,
        new Blob([bytes]),
        Buffer.from(bytes),
        [Buffer.from(bytes)],
        new ArrayBuffer(0),
      ]
      for (const data of [...binaries, undefined, null, 7]) {
        const { length } = journal.of('message')
        FakeWebSocket.last.onmessage?.({ data })
        FakeWebSocket.last.receive({ ...ANSWER, content: 'the next' })
        expect(journal.of('message').slice(length)).toMatchObject([{ data }, { data: { content: 'the next' } }])
      }
      expect(new Set(journal.of('error').map(({ error }) => error.code))).toEqual(new Set(['MESSAGE_ERROR']))
      expect(journal.of('error')).toHaveLength(binaries.length + 3)
    } finally {
      await service.close()
    }
  },
)

/** Longest delay of other work, in milliseconds. */
const LONGEST_GAP_MS = 250

const BURSTS: Record<string, Burst> = {
  '100,000 answers': {
    payload: JSON.stringify({ ...ANSWER, content: 'One of many answers, as long as they are on average.' }),
    times: 100_000,
  },
  '30,000 frames of a single character': { payload: 'x', times: 30_000 },
  '30,000 binary frames': { payload: 'x', times: 30_000, binary: true },
}

for (const [name, burst] of Object.entries(BURSTS)) {
  verifiesAlone('WS-04', `a burst of ${name} over a port does not block other work of the process`, async () => {
    const service = await overPort.serve({})
    const server = await serveBurst(burst)
    const stopwatch = new Stopwatch()
    try {
      const agent = await agentOfBurst(service, server.url)
      let told = 0
      agent.on('message', () => {
        told++
      })
      await agent.initialize()
      stopwatch.start()
      await agent.connect()
      await service.until(() => told === burst.times, 'every frame is reported')
      expect(stopwatch.longestGapMs).toBeLessThan(LONGEST_GAP_MS)
      expect(agent.isConnected()).toBe(true)
    } finally {
      stopwatch.stop()
      await service.close()
      await server.close()
    }
  })
}

/** An agent with this chat address; its REST calls are answered like those of a service. */
async function agentOfBurst(service: Service, url: string) {
  const raw = await service.rawService(restOf(url))
  const auth = { getToken: async () => 'a token' }
  return service.newAgent({ endpoint: raw.endpoint, auth, logLevel: LogLevel.FATAL }, raw.environment)
}

const restOf = (webSocketDomain: string) => (request: { path: string; headers: Readonly<Record<string, string>> }) => {
  const endpoint = `http://${request.headers['host']}`
  if (request.path === paths.deploymentInfo())
    return { body: { apiDomain: endpoint, aiAgentDomain: 'agent.example.test' } }
  return { body: request.path === paths.session('help') ? { sessionId: 's-1' } : { agentId: 'help', webSocketDomain } }
}

/**
 * Measures the delay of a timer that is due every 10 ms. Time spent elsewhere does not count: a gap is the lesser of the
 * elapsed time and the CPU time of this thread.
 */
class Stopwatch {
  longestGapMs = 0
  #timer: NodeJS.Timeout | undefined

  start(): void {
    let at = performance.now()
    let worked = cpuTimeMs()
    this.#timer = setInterval(() => {
      this.longestGapMs = Math.max(this.longestGapMs, Math.min(performance.now() - at, cpuTimeMs() - worked))
      at = performance.now()
      worked = cpuTimeMs()
    }, 10)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** CPU time of this thread, in milliseconds; of the process where the system does not tell it. */
function cpuTimeMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1_000_000
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
}

function expectCleanPrototypes(): void {
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted')
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
  expect(Reflect.get([], 'polluted')).toBeUndefined()
}
