import { createEmulator, type Emulator, type EmulatorOptions } from '@aiagent/emulator'
import { eventually, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { AiAgent } from '../src/ai-agent.ts'
import type { AiAgentConfig } from '../src/config.ts'
import { BaseMessageHandler, type HandlerResult } from '../src/conversation/message-handler.ts'
import type { AgentEvent, AgentEventType } from '../src/events.ts'
import type { Message } from '../src/log/message.ts'
import type { Environment } from '../src/platform/environment.ts'

/** Events that the tests record. */
const EVENTS: AgentEventType[] = [
  'initialized',
  'connected',
  'closed',
  'stateChanged',
  'error',
  'message',
  'agentMessage',
  'escalation',
  'errorMessage',
  'heartbeat',
  'contextValidation',
  'chatHistory',
  'tokenExpiring',
  'queueFlushed',
  'rateLimited',
  'transcriptUpdate',
  'transcriptRestored',
  'transcriptTrimmed',
  'messagesRecovered',
  'workingChanged',
]

export interface ToldEvent {
  name: AgentEventType
  event: AgentEvent
}

/** Creates agents against the emulated service, in one process and on one clock. */
export function setUp(options: EmulatorOptions = {}, replacements: Partial<Environment> = {}) {
  const clock = new ManualClock()
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const emulator = createEmulator({ clock, reply, ...options })
  const printed: unknown[][] = []
  const print = (...parts: unknown[]) => void printed.push(parts)
  const environment: Partial<Environment> = {
    fetch: emulator.fetch,
    WebSocket: emulator.WebSocket,
    clock,
    random: () => 0.5,
    console: { debug: print, info: print, warn: print, error: print },
    ...replacements,
  }
  const make = (config: Partial<AiAgentConfig> = {}, more: Partial<Environment> = {}) => {
    const agent = new AiAgent({ id: 'help', endpoint: emulator.origin, ...config }, { ...environment, ...more })
    return { agent, told: listen(agent) }
  }
  return { clock, emulator, environment, printed, make }
}

/** Records the events of an agent, in order. */
function listen(agent: AiAgent): ToldEvent[] {
  const told: ToldEvent[] = []
  for (const name of EVENTS) agent.on(name, event => void told.push({ name, event }))
  return told
}

export const namesOf = (told: readonly ToldEvent[]): AgentEventType[] => told.map(({ name }) => name)

/** Payloads of the events with a name. */
export const payloadsOf = <Type extends AgentEventType>(told: readonly ToldEvent[], type: Type) =>
  told.filter(({ name }) => name === type).map(({ event }) => (event as AgentEvent<Type>).payload)

/** The error that a promise rejects with; throws if it is fulfilled. */
export async function rejection(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise
  } catch (error) {
    return error as Error & Record<string, unknown>
  }
  throw new Error('The promise should have been rejected.')
}

/** Id of the newest session of the service. */
export const lastSession = (emulator: Emulator): string => [...emulator.world.sessions.keys()].at(-1) ?? ''

/** Frames that clients sent in a session, in order: the content, or the role of frames without content. */
export const sentTo = (emulator: Emulator, sessionId = lastSession(emulator)): string[] =>
  emulator.control.frames(sessionId).map(({ message }) => message?.content ?? message?.role ?? '')

/** Requests so far: method and last part of the path. */
export const requestsTo = (emulator: Emulator): string[] =>
  emulator.control.requests().map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)

/** Bodies of the session calls so far. */
export const sessionBodies = (emulator: Emulator): unknown[] =>
  emulator.control
    .requests()
    .filter(({ method, path }) => method === 'POST' && path.endsWith('/session'))
    .map(({ body }) => JSON.parse(body ?? 'null'))

/** Waits until the service has received this number of frames. */
export const framesArrived = (emulator: Emulator, count: number, sessionId?: string) =>
  eventually(() => sentTo(emulator, sessionId).length >= count, `${count} frames`)

/** Holds the frame with the content `slow`, and so those behind it, until its handling fails. */
export class SlowHandler extends BaseMessageHandler {
  fail = (): void => {}

  canHandle({ content }: Message): boolean {
    return content === 'slow'
  }

  handle(): Promise<HandlerResult> {
    return new Promise((_resolve, reject) => {
      this.fail = () => reject(new Error('failed'))
    })
  }
}

/** Sends a message that the connection loses as it breaks. */
export async function sendInDoubt(agent: AiAgent, emulator: Emulator, text: string): Promise<string> {
  emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
  const id = await agent.send(text)
  emulator.control.dropSockets()
  await turnEventLoop(1)
  emulator.faults.lift()
  return id
}

/** The texts of the user that the service has received, by session. */
export const receivedTexts = (emulator: Emulator): (string | undefined)[][] =>
  [...emulator.world.sessions.keys()].map(session =>
    emulator.control.frames(session).flatMap(({ message }) => (message?.role === 'human' ? [message.content] : [])),
  )

/** Advances the clock in steps of five milliseconds until a promise has settled. */
export async function passing<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const done = () => {
    settled = true
  }
  promise.then(done, done)
  for (let steps = 0; !settled && steps < 1_000; steps++) await clock.advance(5)
  if (!settled) throw new Error('The promise has not settled within five seconds of the clock.')
  return promise
}
