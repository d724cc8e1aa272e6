// One side sends or receives frames as fast as it can; the time ends when the other side has everything.

import { finish, parameters } from '@aiagent/test-support/program'
import { connectBare, sendBare } from '../clients/bare-client.ts'
import { connected, makeObservedAgent } from '../clients/library-client.ts'
import { median } from '../figure.ts'
import { ECHO, expectBytes, outboundTexts, pushFrames } from '../frames.ts'

export interface ThroughputParameters {
  endpoint: string
  side: 'bare' | 'library'
  /** `echo`: each frame is sent when the last one has come back. */
  way: 'awaited' | 'burst' | 'inbound' | 'echo'
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
}

const { endpoint, side, way, bytes, frames, rounds } = await parameters<ThroughputParameters>()
const texts = way === 'echo' ? [] : outboundTexts(bytes)
const client = side === 'bare' ? await bareClient() : await libraryClient()
const runRound = { awaited: sendAll, burst: sendAll, inbound: receiveAll, echo: echoAll }[way]
const times: number[] = []
const WARM_UP_ROUNDS = 3
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  const time = await runRound()
  if (round >= 0) times.push(time)
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
  await client.send(pushFrames(frames, bytes))
  await done
  return performance.now() - start
}

/** The median of the round trips. */
async function echoAll(): Promise<number> {
  const trips: number[] = []
  for (let index = 0; index < frames; index++) {
    const back = client.arrival(1)
    const start = performance.now()
    await client.send(ECHO)
    await back
    trips.push(performance.now() - start)
  }
  return median(trips)
}

async function bareClient(): Promise<Client> {
  const socket = await connectBare(endpoint)
  let hear = () => {}
  socket.on('message', data => {
    JSON.parse(data.toString())
    hear()
  })
  return { send: content => sendBare(socket, content), arrival: count => counted(count, next => (hear = next)) }
}

async function libraryClient(): Promise<Client> {
  const agent = await connected(makeObservedAgent(endpoint))
  let hear = () => {}
  agent.on('agentMessage', () => hear())
  return { send: content => agent.send(content), arrival: count => counted(count, next => (hear = next)) }
}

function counted(count: number, listen: (hear: () => void) => void): Promise<void> {
  return new Promise(resolve => {
    let left = count
    listen(() => {
      if (--left === 0) resolve()
    })
  })
}
