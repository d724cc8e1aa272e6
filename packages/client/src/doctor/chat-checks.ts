import { encodeMessage, encodePing, PERSONA, ROLE } from '@aiagent/protocol'
import { chatAddress } from '../chat/transport.ts'
import { sleep } from '../util/abort.ts'
import type { Examination } from './examination.ts'
import { ProbeSocket } from './probe-socket.ts'
import { failed, passed, skipped, type Verdict } from './report.ts'

/** How long an opened chat must survive, in milliseconds: services refuse a session after the upgrade, too. */
const SETTLE_MS = 300

/** The upgrade is accepted, and the chat stays open. */
export async function checkChat(examination: Examination): Promise<Verdict> {
  const { environment, options, details, deployment, sessionId } = examination
  let address: string
  try {
    address = chatAddress({ agent: details ?? {}, deployment: deployment ?? {}, sessionId: sessionId ?? '' })
  } catch (error) {
    return failed('CHAT_ADDRESS_MISSING', error instanceof Error ? error.message : String(error))
  }
  const { host, origin } = new URL(address)
  let probe: ProbeSocket
  try {
    probe = new ProbeSocket(new environment.WebSocket(address))
  } catch {
    // A page with https refuses ws:, and some policies throw at once.
    examination.unreachable.add(origin)
    return failed('CHAT_UNREACHABLE', `The platform refuses a chat at ${origin}.`)
  }
  examination.socket = probe
  // Browsers do not close a socket that a policy forbids.
  const isForbidden = () => examination.violations.has(origin)
  await until(examination, options.timeoutMs, () => probe.isOpen || probe.closed !== undefined || isForbidden())
  if (!probe.isOpen && !probe.closed && !isForbidden()) {
    return failed('CHAT_TIMEOUT', `The chat at ${host} did not open within ${options.timeoutMs / 1000} s.`)
  }
  if (!probe.isOpen) {
    const status = probe.closed?.httpStatus
    if (status === undefined) {
      examination.unreachable.add(origin)
      return failed('CHAT_UNREACHABLE', `The chat at ${host} could not be opened.`)
    }
    return failed('CHAT_REFUSED', `The chat at ${host} was refused with HTTP status ${status}.`)
  }
  if (details?.isAuthenticated) {
    const messageData = { token: examination.token ?? '' }
    probe.send(encodeMessage({ persona: PERSONA.METADATA, role: ROLE.TOKEN, messageData }))
  }
  await until(examination, SETTLE_MS, () => probe.closed !== undefined)
  if (probe.closed) return failed('CHAT_CLOSED', `The service closed the chat with code ${probe.closed.code}.`)
  const refusal = probe.frames.find(({ errorCode }) => errorCode !== undefined)
  if (refusal) return failed('CHAT_ERROR', `The service reports the error ${refusal.errorCode} in the chat.`)
  return passed(`The chat at ${host} is open.`)
}

/** Frames pass in both directions. */
export async function checkAnswer(examination: Examination): Promise<Verdict> {
  const { ask } = examination.options
  if (ask === undefined && !hasPings(examination))
    return skipped('Not checked without a question (option ask): this service answers no pings.')
  const ms = await roundTrip(examination)
  const probe = examination.socket
  if (probe?.closed) return failed('CHAT_CLOSED', `The service closed the chat with code ${probe.closed.code}.`)
  const refusal = probe?.frames.find(({ errorCode }) => errorCode !== undefined)
  if (refusal) return failed('CHAT_ERROR', `The service reports the error ${refusal.errorCode} in the chat.`)
  const what = ask === undefined ? 'ping' : 'question'
  if (ms === undefined) return failed('CHAT_SILENT', `Nothing arrived after a ${what}.`)
  return passed(`The first frame after a ${what} arrived in ${Math.round(ms)} ms.`)
}

/** The chat survives silence. */
export async function checkIdle(examination: Examination): Promise<Verdict> {
  const { environment, options, socket } = examination
  const { idleSeconds = 0 } = options
  if (idleSeconds <= 0 || !socket)
    return skipped('Not checked without seconds for the chat to stay idle (option idle).')
  const start = environment.clock.monotonic()
  await until(examination, idleSeconds * 1000, () => socket.closed !== undefined)
  const seconds = Math.round((environment.clock.monotonic() - start) / 1000)
  if (socket.closed) {
    return failed('CHAT_IDLE_CUT', `The chat was cut after ${seconds} s without a frame (code ${socket.closed.code}).`)
  }
  if (options.ask === undefined && !hasPings(examination)) return passed(`The chat stayed open for ${seconds} s.`)
  if ((await roundTrip(examination)) === undefined)
    return failed('CHAT_IDLE_DEAD', `After ${seconds} s without a frame nothing passes any more.`)
  return passed(`The chat stayed open for ${seconds} s, and works.`)
}

/** Sends a question or a ping. The time to the next frame, in milliseconds; undefined without one. */
async function roundTrip(examination: Examination): Promise<number | undefined> {
  const { environment, options, socket } = examination
  if (!socket) return undefined
  const before = socket.frames.length
  const start = environment.clock.monotonic()
  const { ask } = options
  const question = { persona: PERSONA.CUSTOMER, role: ROLE.HUMAN, content: ask ?? '' }
  socket.send(ask === undefined ? encodePing('doctor') : encodeMessage(question))
  await until(examination, options.timeoutMs, () => socket.frames.length > before || socket.closed !== undefined)
  return socket.frames.length > before ? environment.clock.monotonic() - start : undefined
}

function hasPings({ deployment }: Examination): boolean {
  return deployment?.capabilities?.some(name => name === 'receipts' || name === 'resume') === true
}

/** Waits until a condition holds, the time is over, or the examination is aborted. */
async function until(
  { environment, options, socket }: Examination,
  limitMs: number,
  holds: () => boolean,
): Promise<void> {
  if (holds()) return
  const met = new AbortController()
  const abort = () => met.abort()
  options.signal?.addEventListener('abort', abort)
  if (socket) {
    socket.onChange = () => {
      if (holds()) met.abort()
    }
  }
  await sleep(environment.clock, limitMs, met.signal)
  if (socket) socket.onChange = () => {}
  options.signal?.removeEventListener('abort', abort)
  options.signal?.throwIfAborted()
}
