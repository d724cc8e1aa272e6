const METHOD = /^([A-Z]+)\s+(.+)$/

/** Whether a request matches a route such as `POST /core/*` or `/system/deploymentInfo`. */
export type RouteTest = (method: string, path: string) => boolean

/**
 * Compiles a route: a path with `*` for any characters, optionally after a method. Without a route, every request
 * matches.
 */
export function compileRoute(route: string | undefined): RouteTest {
  if (route === undefined) return () => true
  const [, wanted, afterMethod] = METHOD.exec(route.trim()) ?? []
  const pieces = (afterMethod ?? route.trim()).split('*').map(piece => piece.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  const pattern = new RegExp(`^${pieces.join('.*')}$`)
  return (method, path) => (wanted === undefined || wanted === method) && pattern.test(path)
}
