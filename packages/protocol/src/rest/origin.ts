const REST_SCHEME = new Map([
  ['ws', 'http'],
  ['wss', 'https'],
])
const SOCKET_SCHEME = new Map([
  ['http', 'ws'],
  ['https', 'wss'],
])

/**
 * The base of REST calls for an endpoint as people write it: a bare host gets `https://`, `ws:` and `wss:` become
 * `http:` and `https:`, the scheme is lower-cased, and trailing slashes go. It does not check the host.
 */
export function restBase(address: string): string {
  return withScheme(address, REST_SCHEME, 'https')
}

/** The base of chat addresses for a host as deployments name it: the same in the other direction, `wss://` by default. */
export function socketBase(address: string): string {
  return withScheme(address, SOCKET_SCHEME, 'wss')
}

/** Only the part before `://` is a scheme: in `localhost:8600` the colon starts a port. */
function withScheme(address: string, map: ReadonlyMap<string, string>, missing: string): string {
  const given = address.trim()
  const separator = /^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(given)
  const scheme = separator?.[0].toLowerCase() ?? missing
  const rest = separator ? given.slice(separator[0].length + '://'.length) : given.replace(/^\/\//, '')
  let end = rest.length
  while (rest[end - 1] === '/') end--
  return `${map.get(scheme) ?? scheme}://${rest.slice(0, end)}`
}
