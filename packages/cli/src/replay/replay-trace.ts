import { AiAgent, type AiAgentConfig } from '@aiagent/client'
import { createRecorder, parseTrace, type Trace, type TraceEntry } from '@aiagent/client/recorder'
import { createEmulator } from '@aiagent/emulator'
import { CAPABILITY } from '@aiagent/protocol'
import { findViolations, type Violation } from './invariants.ts'
import { scriptSockets } from './scripted-sockets.ts'
import { SimulatedClock, settlePromises } from './simulated-clock.ts'

/** What a replay found. */
export interface ReplayResult {
  /** The given recording. */
  readonly recording: Trace
  /** The recording of the replay. */
  readonly replay: Trace
  /** What the recording violates. */
  readonly recorded: readonly Violation[]
  /** What the client of today violates, given the same calls and the same frames. */
  readonly replayed: readonly Violation[]
}

type Call = Extract<TraceEntry, { kind: 'call' }>

/** Time for the timers of a client that is destroyed, in milliseconds. */
const DESTROY_MS = 1000

/** How often promises may settle until a call is done that waits for no time. */
const TURNS = 500

/**
 * Runs the client with the calls and frames of a recording, on a simulated clock: requests are answered by an emulator in
 * this process, and the chat does what the recorded sockets did.
 *
 * Texts that the recording hides are replaced by their hashes. Calls whose arguments were not recorded, such as
 * `setContext()`, are left out.
 *
 * @param text the recording, as JSON
 * @throws {TypeError} when it is not a trace
 */
export async function replayTrace(text: string): Promise<ReplayResult> {
  const recording = parseTrace(text)
  const clock = new SimulatedClock(recording.startedAt)
  const capabilities = Object.values(CAPABILITY).filter(name => recording.capabilities.includes(name))
  const emulator = createEmulator({ clock, settings: { capabilities } })
  const recorder = createRecorder({ content: true, limit: Number.POSITIVE_INFINITY })
  const config: AiAgentConfig = {
    id: recording.isAuthenticated ? 'account' : 'help',
    endpoint: emulator.origin,
    enableLogging: false,
    recorder,
    ...(recording.isAuthenticated && {
      auth: {
        type: 'pre-auth',
        accessToken: emulator.control.issueToken(),
        refreshTokenFn: async () => emulator.control.issueToken(),
      },
    }),
  }
  const WebSocket = scriptSockets(recording, clock)
  const agent = new AiAgent(config, { clock, fetch: emulator.fetch, WebSocket })
  for (const entry of recording.entries) {
    if (entry.kind !== 'call') continue
    await clock.advanceTo(entry.t)
    await repeat(agent, entry, () => emulator.control.issueToken())
  }
  await clock.advanceTo(recording.endedAt)
  const replay = recorder.exportTrace()
  const destroyed = agent.destroy()
  await clock.advanceTo(recording.endedAt + DESTROY_MS)
  await destroyed
  emulator.close()
  return { recording, replay, recorded: findViolations(recording), replayed: findViolations(replay) }
}

async function repeat(agent: AiAgent, { name, text }: Call, issueToken: () => string): Promise<void> {
  const call = callOf(agent, name, text, issueToken)
  if (!call) return
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  call().then(settle, settle)
  // The calls that load modules and make requests take real time, in which the simulated clock stands still.
  for (let turn = 0; name === 'initialize' && !isSettled && turn < TURNS; turn++) await settlePromises()
}

function callOf(
  agent: AiAgent,
  name: string,
  text: string | undefined,
  issueToken: () => string,
): (() => Promise<unknown>) | undefined {
  switch (name) {
    case 'initialize':
      return () => agent.initialize()
    case 'connect':
      return () => agent.connect()
    case 'disconnect':
      return () => agent.disconnect()
    case 'restartConnection':
      return () => agent.restartConnection()
    case 'send':
      return text === undefined ? undefined : () => agent.send(text)
    case 'ask':
      return text === undefined ? undefined : () => agent.ask(text)
    case 'updateAccessToken':
      return () => agent.updateAccessToken(issueToken())
    case 'logout':
      return () => agent.logout()
    case 'destroy':
      return () => agent.destroy()
    default:
      return undefined
  }
}
