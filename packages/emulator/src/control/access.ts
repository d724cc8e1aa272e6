/** Whether a network address is one of this machine's own. Accepts IPv4 in the IPv6 form, too. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false
  const plain = address.toLowerCase().replace(/^::ffff:/, '')
  return plain === '::1' || /^127(?:\.\d{1,3}){3}$/.test(plain)
}

/** Whether the host of an address, without its port, is a name of this machine, which no foreign page can have. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:.+\.)?localhost$|^\[::1\]$/i.test(hostname) || isLoopbackAddress(hostname)
}

/**
 * Why a request may not control the service; undefined if it may.
 *
 * The address of the connection decides, since headers can be forged. The headers of pages and proxies are checked too:
 * both can make requests from this machine on behalf of others.
 */
export function refuseControl(request: Request, remoteAddress: string | undefined): string | undefined {
  if (!isLoopbackAddress(remoteAddress)) return 'The controls are for this machine alone.'
  if (request.headers.has('forwarded') || request.headers.has('x-forwarded-for'))
    return 'The controls are not for a proxy that speaks for somebody else.'
  if (!isLoopbackHost(new URL(request.url).hostname))
    return 'Call the controls by an address of this machine, such as 127.0.0.1.'
  const origin = request.headers.get('origin')
  if (origin !== null && !(URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname)))
    return 'The controls are not for pages of other hosts.'
  return undefined
}
