// How many REST calls a second agent of the process makes until it is connected.
import { connectLibrary } from '../clients/library-client.ts'
import { finish, parameters } from '../report-to-parent.ts'

const { endpoint } = parameters<{ endpoint: string }>()
const callsSoFar = async () => ((await (await fetch(`${endpoint}/calls`)).json()) as { calls: number }).calls
await connectLibrary(endpoint)
const before = await callsSoFar()
await connectLibrary(endpoint)
await finish((await callsSoFar()) - before)
