/** Whether a text is an address with http(s), the only ones to which requests are sent. */
export function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether a host name, such as `url.hostname`, is that of this machine. Requests to it may use plain HTTP. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK.test(hostname)
}

/** Whether an address is one of this machine. */
export function isOnThisMachine(address: string): boolean {
  return URL.canParse(address) && isLoopbackHost(new URL(address).hostname)
}
