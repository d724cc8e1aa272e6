import { sleep, withTimeLimit } from '../util/abort.ts'
import { isLoopbackHost, isWebAddress } from '../util/address.ts'
import type { Environment } from './environment.ts'
import { explainCode } from './error-code.ts'

/** How long the test requests may take, in milliseconds. */
const TEST_LIMIT_MS = 3_000

/** Names of Chromium's permissions for calls to this machine and its network. */
const LOCAL_NETWORK = ['loopback-network', 'local-network', 'local-network-access'] as const

/** Most redirects that a platform follows. */
const MAX_REDIRECTS = 20

/** How long the event of a policy violation may follow the rejection of a request, in milliseconds. */
export const VIOLATION_WAIT_MS = 50

/** The parts of the platform that an explanation uses. */
export type NetworkPlatform = Pick<Environment, 'fetch' | 'clock'> & Partial<Pick<Environment, 'page'>>

/**
 * Explains why a request got no response, as far as the platform reveals it, as the rest of a sentence about the
 * service.
 *
 * Node reports an error code, and shows the redirects of an address. A page does neither: so this sends one more request
 * without credentials, whose response it cannot read, and listens for violations of the content security policy. The signal
 * ends both at once.
 *
 * @param follows whether the request followed redirects
 */
export async function explainNetworkFailure(
  platform: NetworkPlatform,
  address: string,
  cause: unknown,
  signal?: AbortSignal,
  follows = false,
): Promise<string> {
  const { protocol, hostname, origin } = new URL(address)
  const window = platform.page?.window
  if (window) return explainInPage(platform, window, origin, protocol, hostname, signal)
  let end = address
  const find = async (limit: AbortSignal) => {
    for (let hops = 0; hops < MAX_REDIRECTS; hops++) {
      const { headers, body } = await platform.fetch(end, { redirect: 'manual', cache: 'no-store', signal: limit })
      body?.cancel().catch(() => {})
      const target = headers.get('location')
      if (!target) return
      end = new URL(target, end).href
      if (!isWebAddress(end)) throw cause
    }
  }
  if (follows)
    await withTimeLimit(platform.clock, TEST_LIMIT_MS, signal, find).catch(error => {
      if (end !== address) cause = error
    })
  const why = explainCode(new URL(end), cause)
  if (end === address) return why
  const { origin: elsewhere, protocol: scheme } = new URL(end)
  return `it redirects to ${isWebAddress(end) ? elsewhere : `the scheme ${scheme}`}, which could not be reached${why && `: ${why}`}`
}

async function explainInPage(
  { fetch, clock }: NetworkPlatform,
  window: Window,
  origin: string,
  protocol: string,
  hostname: string,
  signal?: AbortSignal,
): Promise<string> {
  const { location, navigator } = window
  if (navigator?.onLine === false) return 'the browser is offline'
  if (location?.protocol === 'https:' && protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname))
    return 'a page with https cannot call an address with http'
  let isForbidden = false
  const unwatch = watchPolicy(window, blocked => {
    isForbidden ||= blocked === origin
  })
  const isReached = await isReachable({ fetch, clock }, origin, TEST_LIMIT_MS, signal)
  if (!isReached) await sleep(clock, VIOLATION_WAIT_MS, signal)
  unwatch()
  if (isForbidden) return `the content security policy of the page forbids it: add ${origin} to \`connect-src\``
  if (!isReached && (await mayBlockLocalNetwork(window, hostname)))
    return `nothing answers there, or the browser blocks it (Local Network Access): allow ${location?.origin} in the site settings to reach this device and the local network, and serve it with https`
  return isReached
    ? `it does not allow this page to call it (CORS): the service must allow the origin ${location?.origin}`
    : 'nothing answers there, the host name is unknown, or the scheme (http or https) is the wrong one'
}

/**
 * Reports what the content security policy of a page blocks, by origin and directive.
 *
 * @returns a function that stops it
 */
export function watchPolicy(
  { document }: Partial<Pick<Window, 'document'>>,
  onBlocked: (origin: string, directive: string) => void,
): () => void {
  const onViolation = ({ blockedURI, effectiveDirective }: SecurityPolicyViolationEvent) =>
    onBlocked(URL.canParse(blockedURI) ? new URL(blockedURI).origin : blockedURI, effectiveDirective)
  document?.addEventListener('securitypolicyviolation', onViolation)
  return () => document?.removeEventListener('securitypolicyviolation', onViolation)
}

/** Whether an origin answers a request without credentials, whose response the page cannot read. */
export function isReachable(
  { fetch, clock }: NetworkPlatform,
  origin: string,
  limitMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const probe = (limit: AbortSignal) =>
    fetch(`${origin}/`, { mode: 'no-cors', credentials: 'omit', cache: 'no-store', signal: limit })
  return withTimeLimit(clock, limitMs, signal, probe).then(
    () => true,
    () => false,
  )
}

/** Whether Chromium may have blocked a request to this device or its network: it reveals no more than its permissions. */
async function mayBlockLocalNetwork({ navigator, isSecureContext }: Window, hostname: string): Promise<boolean> {
  // A page without https cannot be asked.
  if (isSecureContext === false) return isLoopbackHost(hostname) || /^(10|192\.168)\./.test(hostname)
  const query = async (name: string) => navigator?.permissions?.query({ name: name as PermissionName })
  // A browser rejects the names that it does not know.
  const found = await Promise.allSettled(LOCAL_NETWORK.map(query))
  return found.some(each => each.status === 'fulfilled' && each.value?.state === 'denied')
}
