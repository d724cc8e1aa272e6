// Counts the files and functions of `packages/*/src` that one operation of an agent enters, and compares them with their ceilings:
// `npm run breadth`; `-- --list` names them, `-- --write` lowers ceilings. The coverage of V8 counts, in a second run of
// each operation, with a listener on every event and the emulator in this process.
import { readdirSync, readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { type AgentEventType, AiAgent } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import { ManualClock } from '@aiagent/test-support'
import { readCommandLine } from './command-line.ts'
import { applyRatchet, type Figures } from './ratchet.ts'
import { ROOT } from './tools.ts'

/** Source files whose functions count: of all packages but the emulator and the clock of this script. */
const COUNTED = /packages\/((?!emulator\/|test-support\/)[\w-]+\/src\/[^?]+)/

const { list, write } = readCommandLine(
  {
    name: 'breadth',
    about: 'Counts the files and functions that each operation of an agent enters.',
    options: {
      list: { type: 'boolean', help: 'names the files and the functions' },
      write: { type: 'boolean', help: 'lowers the ceilings that are above what was counted' },
    },
  },
  ({ values }) => values,
)
const sources = clientSources()
const [, declared = ''] = /interface AgentEventPayloadMap \{(.*?)\n\}/s.exec(sources.get('events.ts') ?? '') ?? []
const events = [...declared.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name as AgentEventType)
if (!events.includes('connected')) throw new Error('events.ts has no AgentEventPayloadMap with the events by name.')
const session = new Session()
const rows: Record<string, Figures> = {}

// V8 counts only functions that have feedback, which it otherwise creates late and removes with unused code.
setFlagsFromString('--no-lazy-feedback-allocation')
setFlagsFromString('--no-flush-bytecode')
// Everything runs once before it counts, so that code is loaded and created once, in real time. Then time is moved.
await converse(async (_name, work, followedByMs = 0) => {
  await work()
  await new Promise(resolve => setTimeout(resolve, followedByMs))
})
const clock = new ManualClock()
globalThis.setTimeout = clock.setTimeout as unknown as typeof setTimeout
globalThis.clearTimeout = clock.clearTimeout
Date.now = clock.now
Math.random = () => 0.5
performance.now = clock.monotonic

session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await converse(count)
applyRatchet('breadth', rows, write)
console.log(describeClient())
process.exit()

/** An operation: what it does, and the milliseconds that what follows it takes; without them nothing that follows counts. */
type Operation = (name: string, work: () => unknown, followedByMs?: number) => Promise<void>

/** One conversation, operation by operation. */
async function converse(run: Operation): Promise<void> {
  const service = createEmulator({
    // Later than anything that sending a message does by itself.
    async reply({ text }) {
      await new Promise(resolve => setTimeout(resolve, 10))
      return { content: `You said: ${text}` }
    },
  })
  const create = () => {
    const { fetch, WebSocket } = service
    const agent = new AiAgent({ id: 'help', endpoint: service.origin, enableLogging: false }, { fetch, WebSocket })
    for (const event of events) agent.on(event, () => {})
    return agent
  }
  const agent = create()
  await run('new AiAgent', create, 30)
  await run('initialize()', () => agent.initialize(), 30)
  await run('connect()', () => agent.connect(), 50)
  await run('', () => agent.ask('first'), 300)
  await run('send()', () => agent.send('hello'))
  await run('', () => agent.ask('hello'), 300)
  await run('send() and its answer', () => agent.send('hello'), 300)
  const reconnect = async () => {
    const reconnected = new Promise(resolve => agent.once('connected', resolve))
    service.control.dropSockets()
    await reconnected
  }
  await run('reconnect', reconnect, 1500)
  await run('logout()', () => agent.logout(), 100)
  await run('', () => agent.destroy())
}

/** Moves time. After each millisecond, imports of loaded modules end, which the module loader answers in order in real time. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left--) {
    await clock.advance(1)
    await import('./tools.ts')
  }
}

async function count(name: string, work: () => unknown, followedByMs?: number): Promise<void> {
  await session.post('Profiler.takePreciseCoverage')
  if (followedByMs === undefined) await work()
  else {
    let isDone = false
    const done = Promise.resolve(work()).finally(() => {
      isDone = true
    })
    while (!isDone) await pass(1)
    await done
    await pass(followedByMs)
  }
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = result.flatMap(({ url, functions }) => {
    const [, path] = COUNTED.exec(url) ?? []
    // The first function of a module is the module itself, and `__name` is one of the compiler.
    const entered = functions.filter(
      ({ functionName, ranges: [range] }) =>
        range && range.count > 0 && functionName !== '__name' && (functionName !== '' || range.startOffset > 0),
    )
    return path && entered.length > 0
      ? [{ path, functions: entered.map(({ functionName }) => functionName || '()') }]
      : []
  })
  if (name === '') return
  // Every operation enters some: nothing is counted where the built packages run instead of the sources.
  if (files.length === 0) throw new Error(`${name} entered no file of the sources. Use \`npm run breadth\`.`)
  rows[name] = { files: files.length, functions: files.reduce((sum, { functions }) => sum + functions.length, 0) }
  if (list)
    console.log(
      `${name}:\n${files
        .map(({ path, functions }) => `  ${path} (${functions.length}): ${functions.join(', ')}`)
        .sort()
        .join('\n')}\n`,
    )
}

/** Sources of the client by path, without tests and without the optional entries over its public interface. */
function clientSources(): ReadonlyMap<string, string> {
  const folder = join(ROOT, 'packages', 'client', 'src')
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    path => /(?<!\.test|\.test-d)\.ts$/.test(path) && !/^(?:doctor|otel|recorder)\b/.test(path),
  )
  return new Map(paths.map(path => [path, readFileSync(join(folder, path), 'utf8')]))
}

/** The size of the client and what connects its parts, without a ceiling. */
function describeClient(): string {
  const texts = [...sources.values()]
  const lines = texts.join('\n').match(/^(?!\s*(?:$|\/\/|\/?\*))/gm)?.length ?? 0
  const entries = [...sources].flatMap(([path, text]) => (/[\\/]/.test(path) ? [] : text)).join('\n')
  const shapes = texts.flatMap(text => [...text.matchAll(/^(?:export )?(?:interface (\w+)|type (\w+)[^=;\n]* = \{)/gm)])
  const internal = shapes.filter(([, name, alias]) => !new RegExp(`\\b${name ?? alias}\\b`).test(entries))
  const emitters = (event: string) => texts.filter(text => new RegExp(`emit\\(\\s*'${event}'`).test(text)).length
  return (
    `Client: ${lines} lines of code in ${texts.length} files, ${((internal.length / lines) * 1000).toFixed(1)} internal interfaces ` +
    `and object types for each 1000 lines, ${events.filter(event => emitters(event) > 1).length} events with several emitters.`
  )
}
