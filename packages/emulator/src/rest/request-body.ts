import type { Context } from 'hono'
import { RestError } from './error.ts'

/** Largest body of a request, in bytes. */
const MAX_REQUEST_BYTES = 1024 * 1024

const KEY = 'body'

/**
 * Reads the body of a request as text.
 *
 * @throws {RestError} 413 when it is larger than {@link MAX_REQUEST_BYTES}
 */
export async function readBody(request: Request): Promise<string> {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > MAX_REQUEST_BYTES) throw tooLarge()
  // The server ends a body at its declared length.
  if (declared >= 0 || request.body === null) return request.text()
  const decoder = new TextDecoder()
  // Firefox has no `Request.body`.
  const body = request.body ?? (await request.blob()).stream()
  const reader = body.getReader()
  let text = ''
  let size = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.byteLength
    if (size > MAX_REQUEST_BYTES) {
      void reader.cancel().catch(() => {})
      throw tooLarge()
    }
    text += decoder.decode(next.value, { stream: true })
  }
  return text + decoder.decode()
}

/** Stores the body, or the reason why it could not be read, for the handlers of the request. */
export function keepBody(c: Context, body: string | RestError): void {
  c.set(KEY, body)
}

/**
 * The body of the request as text.
 *
 * @throws {RestError} 413 when it was too large
 */
export function requestBody(c: Context): string {
  const body: unknown = c.get(KEY)
  if (body instanceof RestError) throw body
  return typeof body === 'string' ? body : ''
}

function tooLarge(): RestError {
  return new RestError(413, '001', `The body is larger than ${MAX_REQUEST_BYTES} bytes.`)
}
