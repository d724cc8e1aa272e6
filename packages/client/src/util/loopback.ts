const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether a host name leads to the machine itself, where encryption protects nothing. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK.test(hostname)
}
