/**
 * The base of REST calls for an endpoint as people write it: a bare host gets `https://`, `ws:` and `wss:` become
 * `http:` and `https:`, the scheme is lower-cased, and trailing slashes go. It does not check the host.
 */
export function restBase(address: string): string {
  return withScheme(address, { ws: 'http', wss: 'https' }, 'https')
}

/** The base of chat addresses for a host as deployments name it: the same in the other direction, `wss://` by default. */
export function socketBase(address: string): string {
  return withScheme(address, { http: 'ws', https: 'wss' }, 'wss')
}

/** Only what stands before `://` is a scheme: in `localhost:8600` the colon starts a port. */
function withScheme(address: string, map: Readonly<Record<string, string>>, missing: string): string {
  const given = address.trim()
  const separator = /^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(given)
  const scheme = separator?.[0].toLowerCase() ?? missing
  const rest = separator ? given.slice(separator[0].length + '://'.length) : given.replace(/^\/\//, '')
  let end = rest.length
  while (rest[end - 1] === '/') end--
  return `${map[scheme] ?? scheme}://${rest.slice(0, end)}`
}
