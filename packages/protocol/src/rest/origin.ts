/**
 * The base of REST calls for an endpoint as people write it: a bare host gets `https://`, `ws:` and `wss:` become
 * `http:` and `https:`, and trailing slashes go.
 */
export function restBase(address: string): string {
  return withScheme(address, { 'ws:': 'http:', 'wss:': 'https:' }, 'https:')
}

/** The base of chat addresses for a host as deployments name it: the same in the other direction, `wss://` by default. */
export function socketBase(address: string): string {
  return withScheme(address, { 'http:': 'ws:', 'https:': 'wss:' }, 'wss:')
}

function withScheme(address: string, map: Record<string, string>, missing: string): string {
  const trimmed = address.trim().replace(/\/+$/, '')
  const match = /^([a-z][a-z0-9+.-]*:)\/\//i.exec(trimmed)
  if (!match?.[1]) return `${missing}//${trimmed}`
  const scheme = match[1].toLowerCase()
  return `${map[scheme] ?? scheme}${trimmed.slice(scheme.length)}`
}
