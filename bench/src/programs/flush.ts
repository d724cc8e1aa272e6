// How long messages that waited take to reach the service, on Node.
import { flush, queuedAgent } from '../clients/queued-agent.ts'
import { finish, parameters } from '../report-to-parent.ts'

const { endpoint, count } = parameters<{ endpoint: string; count: number }>()
await finish(await flush(await queuedAgent(endpoint, count)))
