import type { MiddlewareHandler } from 'hono'

const HEADERS = 'authorization, content-type, accept, accept-language'

/** Allows calls from pages of every origin, with credentials, which forbids `*`: the origin is echoed. */
export const cors =
  (methods = 'GET, POST, PUT'): MiddlewareHandler =>
  async (c, next) => {
    const origin = c.req.header('origin')
    if (origin === undefined) return next()
    if (c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined)
      return c.body(null, 204, {
        ...allowed(origin),
        'Access-Control-Allow-Methods': methods,
        'Access-Control-Allow-Headers': HEADERS,
        'Access-Control-Max-Age': '600',
      })
    await next()
    for (const [name, value] of Object.entries(allowed(origin))) c.header(name, value)
  }

function allowed(origin: string): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers': 'Retry-After',
    Vary: 'Origin',
  }
}
