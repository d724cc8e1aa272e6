import { ProtocolError, restBase } from '@aiagent/protocol'
import { isOnThisMachine } from '../util/loopback.ts'

/**
 * Rejects an unencrypted address from a service that itself uses encryption: tokens and messages would be sent in plain
 * text, and any process of this machine may listen on one of its ports. Services of this machine are exempt.
 *
 * @param trusted the address of the service that returned the other one
 * @throws {ProtocolError} when the returned address is not encrypted
 */
export function requireEncryption(trusted: string, field: string, named: string | null | undefined): void {
  if (!named || !restBase(trusted).startsWith('https:')) return
  const base = restBase(named)
  if (!base.startsWith('http:') || (isOnThisMachine(base) && isOnThisMachine(restBase(trusted)))) return
  throw new ProtocolError(`${field} is an unencrypted address, which a service with https must not return.`, named)
}
