// From nothing to an open chat: once, and then for later agents of the process.

import { finish, parameters } from '@aiagent/test-support/program'
import { connectBare, connectBareDesk, openBareSession } from '../clients/bare-client.ts'
import { connected, makeObservedAgent } from '../clients/library-client.ts'
import { DESK, DESK_CONTEXT } from '../desk-records.ts'
import { median } from '../figure.ts'

export interface ConnectParameters {
  endpoint: string
  side: 'bare' | 'library'
  flow: 'direct' | 'desk'
  /** Token of the user in a contact center. */
  token: string
  /** How many agents follow the first one; on the bare side only their sessions and sockets. */
  later: number
}

/** Milliseconds. */
export interface ConnectResult {
  first: number
  /** The median of the later agents. */
  later?: number
}

const { endpoint, side, flow, token, later } = await parameters<ConnectParameters>()
const auth = { type: 'pre-auth', accessToken: token } as const
const connectOnce = {
  bare: { direct: () => connectBare(endpoint), desk: () => connectBareDesk(endpoint, token) },
  library: {
    direct: () => connected(makeObservedAgent(endpoint)),
    desk: () => connected(makeObservedAgent(endpoint, { id: DESK.agentId, auth }), { context: DESK_CONTEXT }),
  },
}[side][flow]
const connectLater =
  side === 'library' ? connectOnce : () => openBareSession(endpoint, endpoint.replace('http', 'ws'), token)
const first = await measure(connectOnce)
const times: number[] = []
for (let count = 0; count < later; count++) times.push(await measure(connectLater))
await finish({ first, ...(later > 0 && { later: median(times) }) } satisfies ConnectResult)

async function measure(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
