import { MessageError } from '@aiagent/client'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifiesOnEachWire } from '../verifies.ts'

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `message ${from + index}`)

verifiesOnEachWire(
  'FLOW-04',
  'send() while disconnected queues up to maxQueueSize and rejects beyond it',
  async service => {
    const agent = service.newAgent({ maxQueueSize: 5 })
    const journal = new Journal(agent)
    await agent.initialize()
    for (const text of numbered(0, 5)) await agent.send(text)
    expect(agent.getQueueSize()).toBe(5)

    const refused = agent.send({ content: 'one too many', messageId: 'mine' })
    await expect(refused).rejects.toBeInstanceOf(MessageError)
    await expect(refused).rejects.toMatchObject({
      reason: 'queue_full',
      messageId: 'mine',
      message: expect.stringContaining('maxQueueSize'),
    })

    // The rejected message leaves no trace, and no queued message is lost.
    expect(agent.getQueueSize()).toBe(5)
    expect(agent.getTranscript().map(({ message }) => message.content)).toEqual(numbered(0, 5))
    expect(journal.of('transcriptUpdate')).toHaveLength(5)
    await agent.connect()
    await service.until(() => journal.answers.length === 5)
    expect(service.said()).toEqual(numbered(0, 5))
    await agent.send('room again')
    await eventually(() => service.said().length === 6)
  },
)

verifiesOnEachWire(
  'FLOW-04',
  'messages sent during an outage are queued and sent when the chat is open again',
  async service => {
    const agent = await service.connectedAgent({ maxQueueSize: 2, baseReconnectDelay: 5, maxReconnectDelay: 5 })
    service.control.dropSockets()
    await eventually(() => !agent.isConnected())
    const ids = await Promise.allSettled([agent.send('first'), agent.send('second'), agent.send('third')])
    expect(ids.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    await service.until(() => service.said().length === 2)
    expect(service.said()).toEqual(['first', 'second'])
  },
)

verifiesOnEachWire(
  'FLOW-05',
  'a flush sends bursts of 16 with 5 ms between them, and after a late wake-up as many as the elapsed time allows',
  async service => {
    const agent = service.newAgent()
    const journal = new Journal(agent)
    await agent.initialize()
    for (const text of numbered(0, 300)) await agent.send(text)
    await agent.connect()
    const arrived = async (count: number) => {
      await eventually(() => service.said().length >= count, `${count} messages arrived`)
      expect(service.said()).toEqual(numbered(0, count))
    }
    await arrived(16)
    await service.elapse(4)
    await arrived(16)
    expect(service.clock.pending).toEqual([5])
    await service.elapse(1)
    await arrived(32)
    await service.elapse(5)
    await arrived(48)
    // A sleep of ten pauses allows ten bursts.
    await service.oversleep(50)
    await arrived(208)
    expect(journal.of('queueFlushed')).toEqual([])
    await service.oversleep(1000)
    await arrived(300)
    expect(journal.of('queueFlushed')).toEqual([{ count: 300 }])
    await service.elapse(1000)
    expect(journal.of('queueFlushed')).toHaveLength(1)
    expect(service.clock.pending).toEqual([])
  },
  { time: 'by hand' },
)

verifiesOnEachWire(
  ['FLOW-05', 'EVT-06'],
  'a full queue is sent in order, and queueFlushed is emitted once with the count',
  async service => {
    const agent = service.newAgent()
    const journal = new Journal(agent)
    await agent.initialize()
    for (const text of numbered(0, 1000)) await agent.send(text)
    await agent.connect()
    await service.until(() => journal.of('queueFlushed').length > 0)
    await eventually(() => service.said().length === 1000)
    expect(service.said()).toEqual(numbered(0, 1000))
    expect(journal.of('queueFlushed')).toEqual([{ count: 1000 }])
    expect(agent.getQueueSize()).toBe(0)
  },
)

verifiesOnEachWire(
  ['FLOW-05', 'EVT-06'],
  'a flush interrupted by a drop continues with the next connection and emits one queueFlushed with the total',
  async service => {
    const agent = service.newAgent({ baseReconnectDelay: 100, maxReconnectDelay: 100 })
    const journal = new Journal(agent)
    await agent.initialize()
    for (const text of numbered(0, 40)) await agent.send(text)
    await agent.connect()
    await eventually(() => service.said().length === 16)
    service.control.dropSockets()
    await eventually(() => !agent.isConnected())
    expect(agent.getQueueSize()).toBe(24)
    expect(journal.of('queueFlushed')).toEqual([])
    await service.until(() => journal.of('queueFlushed').length > 0)
    await eventually(() => service.said().length === 40)
    expect(service.said()).toEqual(numbered(0, 40))
    expect(journal.of('queueFlushed')).toEqual([{ count: 40 }])
  },
  { time: 'by hand' },
)

verifiesOnEachWire('EVT-06', 'a connection without queued messages emits no queueFlushed', async service => {
  const agent = service.newAgent({ baseReconnectDelay: 1, maxReconnectDelay: 1 })
  const journal = new Journal(agent)
  await agent.initialize()
  await agent.connect()
  service.control.dropSockets()
  await eventually(() => !agent.isConnected())
  await service.until(() => agent.isConnected())
  await agent.send('hello')
  await eventually(() => journal.answers.length)
  expect(journal.of('connected')).toHaveLength(2)
  expect(journal.of('queueFlushed')).toEqual([])
})

verifiesOnEachWire('OWN-06', 'messages sent during a flush do not overtake queued ones', async service => {
  const agent = service.newAgent()
  const journal = new Journal(agent)
  await agent.initialize()
  for (const text of numbered(0, 40)) await agent.send(text)
  agent.on('connected', () => void agent.send('message 40'))
  await agent.connect()
  await agent.send('message 41')
  await service.until(() => journal.of('queueFlushed').length > 0)
  await agent.send('message 42')
  await eventually(() => service.said().length === 43)
  expect(service.said()).toEqual(numbered(0, 43))
})

verifiesOnEachWire(
  'OWN-06',
  'the token frame is the first frame on every connection of an authenticated agent',
  async service => {
    const accessToken = service.control.issueToken()
    const agent = service.newAgent({
      id: 'account',
      auth: { type: 'pre-auth', accessToken },
      baseReconnectDelay: 1,
      maxReconnectDelay: 1,
    })
    const journal = new Journal(agent)
    await agent.initialize()
    await agent.send('first')
    agent.on('connected', () => void agent.send('from a listener'))
    await agent.connect()
    await agent.send('after connect()')
    await service.until(() => journal.answers.length === 3)
    const roles = () => service.frames().map(({ role }) => role)
    expect(roles()).toEqual(['token', 'human', 'human', 'human'])
    expect(service.frames()[0]?.messageData).toEqual({ token: accessToken })
    expect(service.said()).toEqual(['first', 'from a listener', 'after connect()'])

    service.control.dropSockets()
    await eventually(() => !agent.isConnected())
    await agent.send('during the outage')
    await service.until(() => service.said().length === 5)
    expect(roles().slice(4)).toEqual(['token', 'human', 'human'])
  },
)

verifiesOnEachWire(
  'OWN-07',
  'messages sent before initialize() count in the queue and are sent in order',
  async service => {
    const agent = service.newAgent({ maxQueueSize: 3 })
    const journal = new Journal(agent)
    for (const text of numbered(0, 3)) await agent.send(text)
    await expect(agent.send('one too many')).rejects.toMatchObject({ reason: 'queue_full' })
    expect(agent.getQueueSize()).toBe(3)
    await agent.initialize()
    expect(agent.getQueueSize()).toBe(3)
    await agent.connect()
    await eventually(() => journal.answers.length === 3)
    expect(service.said()).toEqual(numbered(0, 3))
    expect(journal.of('queueFlushed')).toEqual([{ count: 3 }])
  },
)
