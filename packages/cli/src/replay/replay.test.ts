import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AiAgent } from '@aiagent/client'
import { createRecorder, type Trace, type TraceEntry } from '@aiagent/client/recorder'
import { createEmulator, type EmulatorSettings } from '@aiagent/emulator'
import { eventually, ManualClock } from '@aiagent/test-support'
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeIo } from '../../test/fake-io.ts'
import { run } from '../run.ts'
import { findViolations, type Invariant } from './invariants.ts'
import { replayTrace } from './replay-trace.ts'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))
const VITEST = fileURLToPath(new URL('../../../../node_modules/vitest/vitest.mjs', import.meta.url))

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})
const newFolder = async () => {
  const folder = await mkdtemp(join(PACKAGE, '.trace-'))
  folders.push(folder)
  return folder
}

/** A conversation with an outage in its middle. */
async function recordConversation(settings: Partial<EmulatorSettings> = {}): Promise<Trace> {
  const clock = new ManualClock()
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const service = createEmulator({ clock, reply, settings })
  const recorder = createRecorder()
  const { fetch, WebSocket, origin } = service
  const environment = { fetch, WebSocket, clock }
  const agent = new AiAgent({ id: 'help', endpoint: origin, enableLogging: false, recorder }, environment)
  let answers = 0
  agent.on('agentMessage', () => answers++)
  await agent.initialize()
  await agent.connect()
  await agent.send('one')
  await eventually(() => answers === 1)
  await clock.advance(500)
  service.control.dropSockets(1012)
  await eventually(() => agent.getState() === 'RECONNECTING')
  await agent.send('two')
  await agent.send('three')
  await clock.advance(5000)
  await eventually(() => answers === 3)
  await clock.advance(1000)
  const left = agent.disconnect()
  await clock.advance(1000)
  await left
  const trace = recorder.exportTrace()
  await agent.destroy()
  service.close()
  return trace
}

const contentsOf = (trace: Trace) =>
  trace.entries.flatMap(entry => (entry.kind === 'sent' ? (entry.frame.content ?? []) : []))
const statesOf = (trace: Trace) =>
  trace.entries.flatMap(entry =>
    entry.kind === 'event' && entry.type === 'stateChanged' ? [entry.details?.['state']] : [],
  )

describe('[REL-79] a replay', () => {
  it.each([[[]], [['receipts', 'resume']]] as const)(
    'does what was recorded, with the capabilities %j',
    async capabilities => {
      const trace = await recordConversation({ capabilities })
      const { recorded, replay, replayed } = await replayTrace(JSON.stringify(trace))
      expect(trace.capabilities).toEqual(capabilities)
      expect([recorded, replayed]).toEqual([[], []])
      expect(contentsOf(replay)).toEqual(contentsOf(trace))
      expect(statesOf(replay)).toEqual(statesOf(trace))
      expect(statesOf(trace)).toContain('RECONNECTING')
    },
  )

  it('gives the same result each time', async () => {
    const text = JSON.stringify(await recordConversation())
    const [first, second] = [await replayTrace(text), await replayTrace(text)]
    expect(contentsOf(second.replay)).toEqual(contentsOf(first.replay))
    expect(second.replay.endedAt).toBe(first.replay.endedAt)
  })
})

describe('[REL-79] findViolations', () => {
  const change = (trace: Trace, edit: (entries: TraceEntry[]) => TraceEntry[]): Trace => ({
    ...trace,
    entries: edit(structuredClone([...trace.entries])),
  })
  const isTold = (entry: TraceEntry, direction: string, persona: string) =>
    entry.kind === 'event' &&
    entry.type === 'transcriptUpdate' &&
    entry.details?.['direction'] === direction &&
    entry.details?.['persona'] === persona
  const isUserFrame = (entry: TraceEntry) => entry.kind === 'sent' && entry.frame.persona === 'customer'
  /** Swaps two entries that fit. */
  const swap = (entries: TraceEntry[], fits: (entry: TraceEntry) => boolean) => {
    const places = entries.flatMap((entry, index) => (fits(entry) ? [index] : [])).slice(-2)
    const [a = 0, b = 0] = places
    return entries.map((entry, index) => (index === a ? entries[b] : index === b ? entries[a] : entry) as TraceEntry)
  }
  const removeFirst = (entries: TraceEntry[], fits: (entry: TraceEntry) => boolean) =>
    entries.toSpliced(entries.findIndex(fits), 1)
  const repeatFirst = (entries: TraceEntry[], fits: (entry: TraceEntry) => boolean) => {
    const place = entries.findIndex(fits)
    return entries.toSpliced(place, 0, entries[place] as TraceEntry)
  }
  const edits: [Invariant, string, (entries: TraceEntry[]) => TraceEntry[]][] = [
    ['reordered', 'messages of the user', entries => swap(entries, isUserFrame)],
    ['reordered', 'messages of the agent', entries => swap(entries, entry => isTold(entry, 'received', 'agent'))],
    ['duplicated', 'a message of the user', entries => repeatFirst(entries, isUserFrame)],
    [
      'duplicated',
      'a message of the agent',
      entries => repeatFirst(entries, entry => isTold(entry, 'received', 'agent')),
    ],
    ['lost', 'a message of the user', entries => removeFirst(entries, isUserFrame)],
    ['lost', 'a message of the agent', entries => removeFirst(entries, entry => isTold(entry, 'received', 'agent'))],
    [
      'state machine',
      'a state that was skipped',
      entries => removeFirst(entries, entry => entry.kind === 'event' && entry.type === 'stateChanged'),
    ],
    ['state machine', 'connected without a socket', entries => removeFirst(entries, entry => entry.kind === 'open')],
  ]

  it.each(edits)('names "%s": %s', async (invariant, _, edit) => {
    for (const capabilities of [[], ['receipts', 'resume']] as const) {
      const trace = await recordConversation({ capabilities })
      expect(findViolations(trace)).toEqual([])
      const found = findViolations(change(trace, edit)).map(violation => violation.invariant)
      expect(new Set(found)).toEqual(new Set([invariant]))
    }
  })

  it('names "unanswered promise" after a minute, or after destroy()', async () => {
    const trace = await recordConversation()
    const pending = change(trace, entries => [...entries, { t: trace.endedAt, kind: 'call', call: 99, name: 'ask' }])
    expect(findViolations(pending)).toEqual([])
    expect(findViolations({ ...pending, endedAt: trace.endedAt + 60_001 })).toEqual([
      { invariant: 'unanswered promise', detail: 'ask() did not settle.', t: trace.endedAt },
    ])
    const destroyed = change(pending, entries => [
      ...entries,
      { t: trace.endedAt, kind: 'call', call: 100, name: 'destroy' },
      { t: trace.endedAt, kind: 'settled', call: 100, outcome: 'resolved' },
    ])
    expect(findViolations(destroyed)).toMatchObject([{ invariant: 'unanswered promise' }])
  })
})

describe('[REL-79] aiagent replay', () => {
  it('reports, and writes a test that replays the recording', async () => {
    const folder = await newFolder()
    const trace = join(folder, 'trace.json')
    const test = join(folder, 'trace.test.ts')
    await writeFile(trace, JSON.stringify(await recordConversation()))
    const fake = createFakeIo()
    expect(await run(['replay', trace, '--emit-test', test], fake.io)).toBe(0)
    expect(fake.out()).toContain('The recording violates nothing.\nThe replay violates nothing.\n')
    // A project of the host has the packages in its node_modules, as this folder below the root has.
    const conditions = `['@aiagent/source', 'node', 'import', 'default']`
    const config = `export default { resolve: { conditions: ${conditions} }, ssr: { resolve: { conditions: ${conditions} } } }`
    await writeFile(join(folder, 'vitest.config.mjs'), config)
    const { stdout } = await promisify(execFile)(process.execPath, [VITEST, 'run', '--root', folder])
    expect(stdout).toMatch(/Tests .*1 passed/)
  }, 60_000)

  it('names what a recording violates, and that the client of today does not', async () => {
    const trace = await recordConversation()
    const entries = trace.entries.filter(entry => entry.kind !== 'open')
    const file = join(await newFolder(), 'trace.json')
    await writeFile(file, `\uFEFF${JSON.stringify({ ...trace, entries })}`)
    const fake = createFakeIo()
    await run(['replay', file], fake.io)
    expect(fake.out()).toMatch(/The recording, \d+ ms: state machine\. The state is CONNECTED without an open socket\./)
  })

  it('says what is wrong with a file', async () => {
    const file = join(await newFolder(), 'trace.json')
    await writeFile(file, '{}')
    const fake = createFakeIo()
    expect(await run(['replay', file], fake.io)).toBe(1)
    expect(fake.err()).toContain('The file is not a trace of an agent.')
    expect(await run(['replay', `${file}x`], fake.io)).toBe(1)
    expect(await run(['replay'], fake.io)).toBe(2)
  })
})
