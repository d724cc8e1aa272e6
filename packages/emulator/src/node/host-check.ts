import type { IncomingMessage } from 'node:http'
import type { Refusal } from '../chat/socket-end.ts'
import { isLoopbackHost } from '../control/access.ts'

/** Why a request is rejected; undefined if it may pass. */
export type HostCheck = (request: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>) => Refusal | undefined

/**
 * Rejects requests for hosts other than this machine. A foreign page can let its host name resolve to this machine (DNS
 * rebinding); its requests carry that name.
 *
 * @param names additional host names to accept, without a port
 */
export function createHostCheck(names: readonly string[]): HostCheck {
  const accepted = new Set(names.map(name => name.toLowerCase()))
  const isAccepted = (name: string) => accepted.has(name) || isLoopbackHost(name)
  return ({ url = '/', headers, rawHeaders }) => {
    // Node uses the first of several Host headers; another program may use the last.
    const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
    const named = count === 1 ? hostName(`http://${headers.host}`) : undefined
    if (named === undefined) return refusal(400, 'The request needs one Host header.')
    // A proxy request has a whole address as its target, whose host replaces the header.
    const target = url.startsWith('/') && !url.startsWith('//') ? named : hostName(url, `http://${headers.host}`)
    const foreign = [named, target].find(name => name === undefined || !isAccepted(name))
    if (foreign === undefined && target !== undefined) return undefined
    return refusal(
      403,
      `Only requests for this machine are answered, not for "${foreign ?? url}". Use localhost or 127.0.0.1.`,
    )
  }
}

/** The host name of an address; undefined without one, or with more than host and port before the path. */
function hostName(address: string, base?: string): string | undefined {
  if (!URL.canParse(address, base)) return undefined
  const { hostname, username, password } = new URL(address, base)
  return username || password ? undefined : hostname.toLowerCase()
}

function refusal(status: 400 | 403, message: string): Refusal {
  return { accepted: false, status, code: `${status}-005`, message }
}
