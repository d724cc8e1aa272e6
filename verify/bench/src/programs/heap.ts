// What one chat keeps on the heap, in bytes: connected and idle, or disconnected and no longer referenced.

import { finish, parameters } from '@aiagent/test-support/program'
import { connectBare, openBareSession } from '../clients/bare-client.ts'
import { connected, makeAgent, makeObservedAgent } from '../clients/library-client.ts'
import { heapInUse } from '../heap.ts'

export interface HeapParameters {
  endpoint: string
  /** `observed`: an agent with a listener on every event. `dropped`: one that was disconnected. */
  side: 'bare' | 'library' | 'observed' | 'dropped'
  chats: number
}

const { endpoint, side, chats } = await parameters<HeapParameters>()

/** The first chats of a process pay for what all of them share. */
const WARM_UP_CHATS = 20

const open: unknown[] = []
const add = { bare: addBare, library: addAgent, observed: addObserved, dropped: useAgent }[side]
if (side === 'bare') open.push(await connectBare(endpoint))
for (let count = 0; count < WARM_UP_CHATS; count++) await add()
const before = await heapInUse()
for (let count = 0; count < chats; count++) await add()
const after = await heapInUse()
if (side !== 'dropped' && open.length < chats) throw new Error('Not every chat is open.')
await finish((after - before) / chats)

async function addBare(): Promise<void> {
  const socket = await openBareSession(endpoint, endpoint.replace('http', 'ws'), 'a.b.c')
  socket.on('message', data => JSON.parse(data.toString()))
  open.push(socket)
}

async function addAgent(): Promise<void> {
  const agent = await connected(makeAgent(endpoint))
  agent.on('agentMessage', () => undefined)
  open.push(agent)
}

async function addObserved(): Promise<void> {
  open.push(await connected(makeObservedAgent(endpoint)))
}

/** Connects an agent, disconnects it, and keeps no reference to it. */
async function useAgent(): Promise<void> {
  const agent = await connected(makeObservedAgent(endpoint))
  await agent.disconnect()
}
