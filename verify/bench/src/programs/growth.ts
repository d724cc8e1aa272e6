// By how many bytes the heap grows over a long conversation whose transcript is bounded, in its first half and its second.

import { finish, parameters } from '@aiagent/test-support/program'
import { connected, makeObservedAgent } from '../clients/library-client.ts'
import { MEMORY_ENDPOINT, MemorySocket, memoryEnvironment } from '../clients/memory-service.ts'
import { inboundFrame, outboundTexts } from '../frames.ts'
import { heapInUse } from '../heap.ts'

/** Bytes. */
export interface GrowthResult {
  /** Over the first messages, while the bounded lists fill. */
  first: number
  /** Over as many messages after them. */
  second: number
}

const { messages, maxEntries } = await parameters<{ messages: number; maxEntries: number }>()
const agent = await connected(
  makeObservedAgent(MEMORY_ENDPOINT, { transcriptConfig: { maxEntries } }, memoryEnvironment()),
)
const answer = inboundFrame(500)
const texts = outboundTexts(120)
let answers = 0
agent.on('agentMessage', () => answers++)

await converse(10_000)
const before = await heapInUse()
await converse(messages)
const filled = await heapInUse()
await converse(messages)
const after = await heapInUse()
if (agent.getTranscriptSize() !== maxEntries || answers < messages / 2) throw new Error('Messages are missing.')
const result: GrowthResult = { first: filled - before, second: after - filled }
await finish(result)

/** Half of the messages are sent, half are received. */
async function converse(count: number): Promise<void> {
  for (let index = 0; index < count / 2; index++) {
    await agent.send(texts[index % texts.length] ?? '')
    MemorySocket.last?.receive(answer())
  }
}
