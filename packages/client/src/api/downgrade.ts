import { ProtocolError, restBase } from '@aiagent/protocol'
import { isLoopbackHost } from '../util/loopback.ts'

/**
 * Refuses an address without encryption that a service with encryption names: tokens and messages would leave in plain
 * text. Addresses of the machine itself are exempt.
 *
 * @param trusted the address of the service that names the other one
 * @throws {ProtocolError} when the named address is not encrypted
 */
export function requireEncryption(trusted: string, field: string, named: string | null | undefined): void {
  if (!named || !restBase(trusted).startsWith('https:')) return
  const base = restBase(named)
  if (!base.startsWith('http:') || (URL.canParse(base) && isLoopbackHost(new URL(base).hostname))) return
  throw new ProtocolError(`${field} is an address without encryption, which a service with https must not name.`, named)
}
