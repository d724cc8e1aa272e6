import type { MiddlewareHandler } from 'hono'
import type { Clock } from '../clock.ts'
import type { World } from '../world.ts'

/** Notes every request together with the status it is answered with. */
export function recordRequest(world: World, clock: Clock): MiddlewareHandler {
  return async (c, next) => {
    const at = clock.now()
    const { method } = c.req
    const body = method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? undefined : await c.req.text()
    await next()
    world.requests.add({
      at,
      method,
      path: c.req.path,
      query: c.req.query(),
      headers: c.req.header(),
      ...(body !== undefined && { body }),
      status: c.res.status,
    })
  }
}
