// The library with a socket in memory beside JSON alone, in turns within one process, by the time of the processor.

import { finish, parameters } from '@aiagent/test-support/program'
import { sendBare } from '../clients/bare-client.ts'
import { connected, makeObservedAgent } from '../clients/library-client.ts'
import { MEMORY_ENDPOINT, MemorySocket, memoryEnvironment } from '../clients/memory-service.ts'
import { inboundFrames, outboundTexts } from '../frames.ts'

export interface JsonParameters {
  way: 'out' | 'in'
  bytes: number
  /** Messages of one round. */
  messages: number
  rounds: number
}

/** Microseconds of the processor for one round of each. */
export interface JsonResult {
  json: number[]
  library: number[]
}

const { way, bytes, messages, rounds } = await parameters<JsonParameters>()
const agent = await connected(makeObservedAgent(MEMORY_ENDPOINT, {}, memoryEnvironment()))
const socket = MemorySocket.last
if (!socket) throw new Error('The agent has opened no socket.')
let texts = outboundTexts(bytes)
let characters = 0
agent.on('agentMessage', ({ payload }) => {
  characters += payload.message.content?.length ?? 0
})

const sink = new MemorySocket()
const json =
  way === 'out'
    ? async () => {
        for (let index = 0; index < messages; index++) await sendBare(sink, texts[index % texts.length] ?? '')
      }
    : async () => {
        for (let index = 0; index < messages; index++)
          characters += JSON.parse(texts[index % texts.length] ?? '').content.length
      }
const library =
  way === 'out'
    ? async () => {
        for (let index = 0; index < messages; index++) await agent.send(texts[index % texts.length] ?? '')
      }
    : async () => {
        for (let index = 0; index < messages; index++) socket.receive(texts[index % texts.length] ?? '')
      }

const WARM_UP_ROUNDS = 20
const result: JsonResult = { json: [], library: [] }
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  for (const [side, work] of inTurn(round)) {
    if (way === 'in') texts = inboundFrames(bytes, messages)
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    if (round >= 0) result[side].push(user + system)
  }
}
if (characters + sink.sent + socket.sent === 0) throw new Error('No message was processed.')
await finish(result)

function inTurn(round: number) {
  const both = [['json', json] as const, ['library', library] as const]
  return round % 2 === 0 ? both : both.reverse()
}
