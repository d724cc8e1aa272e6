// Conversations held by two workers over Redis; one of them leaves. Uses REDIS_URL, or starts a Redis server if one is installed.
import assert from 'node:assert/strict'
import { serveEmulator } from '@aiagent/emulator/node'
import { Fleet, toPrometheus } from '@aiagent/fleet'
import { hasRedis, startRedis } from '@aiagent/test-support/redis'

const given = process.env['REDIS_URL']
if (given || hasRedis()) {
  const server = given ? undefined : await startRedis()
  const redis = given ?? server?.path ?? ''
  const service = await serveEmulator({
    reply: ({ text, context }) => ({ content: `${text}: you look at ${context.page}.` }),
    settings: { capabilities: ['receipts', 'resume'] },
  })

  // #region create
  const createFleet = (worker: boolean) =>
    new Fleet({
      redis,
      name: `shop-${process.pid}`,
      agent: { id: 'help', endpoint: service.url },
      // Any process may send, so texts are masked before they are stored.
      mask: text => text.replaceAll(/\b\d{13,19}\b/g, '[card]'),
      worker,
    })
  // #endregion

  const first = createFleet(true)
  const second = createFleet(true)
  await first.start()
  await second.start()

  // #region send
  // A process that holds no conversations, such as a web server.
  const desk = createFleet(false)
  const answers: string[] = []
  desk.on('agentMessage', ({ conversationId, message }) => {
    answers.push(`${conversationId}: ${message.content}`)
  })
  desk.on('deliveryUpdate', ({ id, state }) => console.log(id, state))
  await desk.start()

  await desk.open('order-17', { context: { page: 'the basket' } })
  await desk.send('order-17', 'Hello')
  // #endregion
  await until(desk, () => answers.length === 1)

  // #region drain
  // What a worker does on SIGTERM: the other one has its conversations at once.
  await first.close()
  await desk.send('order-17', 'My card is 4111111111111111')
  // #endregion
  await until(desk, () => answers.length === 2)
  assert.deepEqual(answers, [
    'order-17: Hello: you look at the basket.',
    'order-17: My card is [card]: you look at the basket.',
  ])

  // #region metrics
  const metrics = await second.metrics()
  console.log(toPrometheus(metrics))
  // #endregion
  assert.equal(metrics.fleet.conversations, 1)

  // #region end
  const ended: string[] = []
  desk.on('ended', ({ conversationId }) => {
    ended.push(conversationId)
  })
  await desk.end('order-17')
  // #endregion
  await until(desk, () => ended.includes('order-17'))
  await desk.close()
  await second.close()
  await service.close()
  await server?.close()
} else console.log('Skipped: no Redis. Set REDIS_URL, or install redis-server.')

/** Resolves when an event has made it true. */
function until(fleet: Fleet, isTrue: () => boolean): Promise<void> {
  return new Promise(resolve => {
    const look = () => {
      if (isTrue()) resolve()
    }
    fleet.on('agentMessage', look).on('ended', look)
    look()
  })
}
