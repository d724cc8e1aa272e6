// From the start to an open chat with a contact-center agent, once. Portal, profile and the user's token are known in advance.
import { connectBareDesk } from '../clients/bare-desk.ts'
import { makeAgent } from '../clients/library-client.ts'
import { DESK, DESK_CONTEXT } from '../desk-records.ts'
import { finish, parameters } from '../report-to-parent.ts'

const { endpoint, side, token } = parameters<{ endpoint: string; side: 'bare' | 'library'; token: string }>()
const start = performance.now()
const elapsed = () => performance.now() - start
let initialized = Number.NaN
if (side === 'bare') await connectBareDesk(endpoint, token, () => (initialized = elapsed()))
else {
  const agent = makeAgent(endpoint, { id: DESK.agentId, auth: { type: 'pre-auth', accessToken: token } })
  agent.on('initialized', () => (initialized = elapsed()))
  await agent.initialize({ context: DESK_CONTEXT })
  await agent.connect()
}
await finish({ initialized, connected: elapsed() })
