import type { FaultOf } from './fault.ts'
import type { Rule } from './fault-rules.ts'
import type { PendingWaits, WaitEnd } from './pending-waits.ts'

/** Faults of the delivery of a response body. */
export interface BodyTrouble {
  bytesPerSecond?: number
  truncated?: Rule<FaultOf<'truncate-body'>>
  stalled?: Rule<FaultOf<'stall-body'>>
}

/** The transport of a response to the client. */
export interface BodyWay {
  waits: PendingWaits
  signal: AbortSignal
  /** Breaks the connection. Without it, the body ends with an error, as fetch reports a broken connection. */
  cut?: (() => void) | undefined
}

/** A slow link sends a portion at this interval, in milliseconds. */
const PORTION_MS = 50

/** The same response with a faulty delivery of its body. Its announced length is unchanged. */
export async function troubleBody(response: Response, trouble: BodyTrouble, way: BodyWay): Promise<Response> {
  if (response.body === null) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const headers = new Headers(response.headers)
  headers.set('Content-Length', String(bytes.length))
  const chunks = carry(bytes, trouble, way)
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await chunks.next()
    if (done) controller.close()
    else controller.enqueue(value)
  }
  // Each portion is fetched on demand: an error would discard everything that is buffered.
  const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}

/** @throws {TypeError} where the body breaks off, unless the transport can break the connection instead */
async function* carry(
  bytes: Uint8Array,
  { bytesPerSecond, stalled, truncated }: BodyTrouble,
  { cut, signal, waits }: BodyWay,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stopOf = (rule: typeof stalled | typeof truncated) =>
    rule ? Math.min(bytes.length, rule.fault.afterBytes ?? Math.floor(bytes.length / 2)) : bytes.length
  const end = stopOf(truncated)
  const stallsAt = stopOf(stalled)
  const portion = bytesPerSecond === undefined ? Infinity : Math.ceil((bytesPerSecond * PORTION_MS) / 1000)
  let isGone = false
  const note = (state: WaitEnd) => {
    isGone = state === 'gone'
  }

  for (let at = 0; !isGone; ) {
    if (stalled && at === stallsAt) note(await waits.untilCalled(stalled.onLift, signal))
    if (isGone || at === end) break
    const next = Math.min(at + portion, end, at < stallsAt ? stallsAt : end)
    if (bytesPerSecond !== undefined) note(await waits.pause(((next - at) / bytesPerSecond) * 1000, signal))
    if (!isGone) yield bytes.subarray(at, next)
    at = next
  }
  if (!isGone && !truncated) return
  if (!cut) throw signal.aborted ? signal.reason : new TypeError('terminated')
  cut()
  // The connection breaks, and this stream is cancelled with it.
  await new Promise(() => {})
}
