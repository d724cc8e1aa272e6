const METHODS = ['debug', 'info', 'log', 'warn', 'error', 'trace'] as const

/**
 * Watches the global console, whose output still appears, and replaces the global `fetch`.
 *
 * @returns a function that restores both
 */
export function watchGlobals(
  fetch: (input: string, init?: RequestInit) => Promise<Response>,
  print: (method: string, values: readonly unknown[]) => void,
): () => void {
  const { console } = globalThis
  const originals = METHODS.map(method => ({ method, original: console[method] }))
  const originalFetch = globalThis.fetch
  for (const { method, original } of originals)
    console[method] = (...values: unknown[]) => {
      print(method, values)
      original.apply(console, values)
    }
  globalThis.fetch = (input, init) =>
    fetch(input instanceof Request ? input.url : String(input), init ?? optionsOf(input))
  return () => {
    for (const { method, original } of originals) console[method] = original
    globalThis.fetch = originalFetch
  }
}

/** The options of a request that was passed instead of an address. */
function optionsOf(input: string | URL | Request): RequestInit {
  if (!(input instanceof Request)) return {}
  const { method, headers, body } = input
  return { method, headers, ...(body && { body, duplex: 'half' }) }
}
