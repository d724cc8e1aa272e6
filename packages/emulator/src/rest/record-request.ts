import type { MiddlewareHandler } from 'hono'
import type { Clock } from '../clock.ts'
import type { RequestEnv } from '../faults/apply-faults.ts'
import type { RecordedRequest } from '../world/recording.ts'
import type { World } from '../world/world.ts'
import { RestError } from './error.ts'
import { keepBody, readBody } from './request-body.ts'

/** Records every request on arrival, and its status once it is answered. */
export function recordRequest(world: World, clock: Clock): MiddlewareHandler<RequestEnv> {
  return async (c, next) => {
    const at = clock.now()
    const { method } = c.req
    const body = hasBody(method) ? await readBody(c.req.raw).catch(asRestError) : undefined
    if (body !== undefined) keepBody(c, body)
    const entry: RecordedRequest = {
      at,
      method,
      path: c.req.path,
      query: c.req.query(),
      headers: c.req.header(),
      ...(typeof body === 'string' && { body }),
      status: 0,
    }
    // Recorded before the response, so that a request without a response appears as well.
    world.requests.add(entry)
    await next()
    entry.status = c.res.status
    const fault = c.get('fault')
    if (fault !== undefined) entry.fault = fault
  }
}

const hasBody = (method: string) => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'

function asRestError(error: unknown): RestError {
  if (error instanceof RestError) return error
  throw error
}
