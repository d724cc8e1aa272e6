// How long messages that waited take to reach the service, on Node.

import { finish, parameters } from '@aiagent/test-support/program'
import { flush, queuedAgent } from '../clients/queued-agent.ts'

const { endpoint, count } = await parameters<{ endpoint: string; count: number }>()
await finish(await flush(await queuedAgent(endpoint, count)))
