// One side sends or receives frames as fast as it can; the time ends when the other side has everything.
import { connectBare, sendBare } from '../clients/bare-client.ts'
import { connectLibrary } from '../clients/library-client.ts'
import { median } from '../figure.ts'
import { expectBytes, outboundTexts, pushFrames } from '../frames.ts'
import { finish, parameters } from '../report-to-parent.ts'

export interface ThroughputParameters {
  endpoint: string
  side: 'bare' | 'library'
  way: 'awaited' | 'burst' | 'inbound' | 'packed'
  bytes: number
  /** Frames of one round. */
  frames: number
  rounds: number
}

/** What both sides can do. */
interface Client {
  send(content: string): Promise<unknown>
  /** Resolves when so many further frames have arrived. */
  arrival(count: number): Promise<void>
  /** Between two rounds: forgets what was said. */
  rest(): void
}

const { endpoint, side, way, bytes, frames, rounds } = parameters<ThroughputParameters>()
const texts = outboundTexts(bytes)
const client = side === 'bare' ? await bareClient() : await libraryClient()
const times: number[] = []
const WARM_UP_ROUNDS = 5
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  const took = await (way === 'inbound' || way === 'packed' ? receiveAll() : sendAll())
  if (round >= 0) times.push(took)
  client.rest()
}
await finish(median(times))

async function sendAll(): Promise<number> {
  const ready = client.arrival(1)
  await client.send(expectBytes(frames, bytes))
  await ready
  const done = client.arrival(1)
  const start = performance.now()
  if (way === 'awaited') {
    for (let index = 0; index < frames; index++) await client.send(texts[index % texts.length] ?? '')
  } else {
    let last: Promise<unknown> | undefined
    for (let index = 0; index < frames; index++) last = client.send(texts[index % texts.length] ?? '')
    await last
  }
  await done
  return performance.now() - start
}

async function receiveAll(): Promise<number> {
  const done = client.arrival(frames)
  const start = performance.now()
  await client.send(pushFrames(frames, bytes, way === 'packed'))
  await done
  return performance.now() - start
}

async function bareClient(): Promise<Client> {
  const socket = await connectBare(endpoint)
  let hear = () => {}
  socket.on('message', data => {
    JSON.parse(data.toString())
    hear()
  })
  return {
    send: content => sendBare(socket, content),
    arrival: count => counted(count, next => (hear = next)),
    rest: () => undefined,
  }
}

async function libraryClient(): Promise<Client> {
  const agent = await connectLibrary(endpoint)
  let hear = () => {}
  agent.on('agentMessage', () => hear())
  return {
    send: content => agent.send(content),
    arrival: count => counted(count, next => (hear = next)),
    rest: () => agent.clearTranscript(),
  }
}

function counted(count: number, listen: (hear: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    let left = count
    listen(() => {
      if (--left === 0) resolve()
    })
  })
}
