import type { FaultOf } from './fault.ts'
import type { Rule } from './fault-rules.ts'
import type { WaitEnd, Waits } from './waits.ts'

/** What is wrong with the way of an answer's body. */
export interface BodyTrouble {
  bytesPerSecond?: number
  truncated?: Rule<FaultOf<'truncate-body'>>
  stalled?: Rule<FaultOf<'stall-body'>>
}

/** The way an answer takes to the client. */
export interface BodyWay {
  waits: Waits
  signal: AbortSignal
  /** Breaks the connection. Without it, the body ends with an error, as fetch tells a broken connection. */
  cut?: (() => void) | undefined
}

/** A slow link carries a portion every so often, in milliseconds. */
const PORTION_MS = 50

/** The same answer, whose body has trouble on its way. Its length is announced as if all were well. */
export async function troubleBody(response: Response, trouble: BodyTrouble, way: BodyWay): Promise<Response> {
  if (response.body === null) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const headers = new Headers(response.headers)
  headers.set('Content-Length', String(bytes.length))
  const body = new ReadableStream<Uint8Array>({ start: controller => void carry(controller, bytes, trouble, way) })
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}

async function carry(
  controller: ReadableStreamDefaultController<Uint8Array>,
  bytes: Uint8Array,
  { bytesPerSecond, stalled, truncated }: BodyTrouble,
  { cut, signal, waits }: BodyWay,
): Promise<void> {
  const passOn = async (from: number, to: number): Promise<WaitEnd> => {
    const portion = bytesPerSecond === undefined ? to - from : Math.ceil((bytesPerSecond * PORTION_MS) / 1000)
    for (let start = from; start < to; start += portion) {
      const chunk = bytes.subarray(start, Math.min(to, start + portion))
      if (
        bytesPerSecond !== undefined &&
        (await waits.pause((chunk.length / bytesPerSecond) * 1000, signal)) === 'gone'
      )
        return 'gone'
      controller.enqueue(chunk)
    }
    return 'over'
  }
  const stop = (rule: typeof stalled | typeof truncated) =>
    rule ? Math.min(bytes.length, rule.fault.afterBytes ?? Math.floor(bytes.length / 2)) : bytes.length
  const end = stop(truncated)
  const pauseAt = Math.min(end, stop(stalled))
  try {
    let state = await passOn(0, pauseAt)
    if (stalled && state === 'over') state = await waits.untilLifted(stalled, signal)
    if (state === 'over') state = await passOn(pauseAt, end)
    if (state === 'over' && !truncated) return controller.close()
    if (cut) cut()
    else controller.error(signal.aborted ? signal.reason : new TypeError('terminated'))
  } catch {
    // The reader has cancelled: there is nobody to pass anything on to.
  }
}
