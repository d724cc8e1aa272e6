// From nothing to an open chat, once.
import { connectBare } from '../clients/bare-client.ts'
import { connectLibrary } from '../clients/library-client.ts'
import { finish, parameters } from '../report-to-parent.ts'

const { endpoint, side } = parameters<{ endpoint: string; side: 'bare' | 'library' }>()
const start = performance.now()
await (side === 'bare' ? connectBare(endpoint) : connectLibrary(endpoint))
await finish(performance.now() - start)
