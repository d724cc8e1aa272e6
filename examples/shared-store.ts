// Processes that share tokens, cached responses and the contexts of their visitors in one store: Redis if REDIS_URL is
// set, else a folder.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator({
  reply: ({ text, context }) => ({ content: `${text}: you look at ${context.page}.` }),
})
const folder = await mkdtemp(join(tmpdir(), 'aiagent-store-'))
const worker = fileURLToPath(new URL('./shared-store/worker.ts', import.meta.url))
let requestsSeen = 0

/** Runs a process that sends one message of a visitor; returns the answer and the requests that it made. */
async function ask(visitor: string, text: string, context = {}) {
  const child = fork(worker, [service.url, folder, visitor, text, JSON.stringify(context)])
  const exited = once(child, 'exit')
  const [answer] = await once(child, 'message')
  assert.equal((await exited)[0], 0)
  const requests = service.emulator.control.requests().slice(requestsSeen)
  requestsSeen += requests.length
  return { answer, asked: requests.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`) }
}

// A separate prefix in a store that may already be in use.
const run = `run-${process.pid}-${Date.now()}`
const first = await ask(`${run}-first`, 'Hello', { page: 'the basket' })
assert.equal(first.answer, 'Hello: you look at the basket.')
assert.deepEqual(first.asked, [
  'GET deploymentInfo',
  'GET deployment',
  'POST token',
  'GET help',
  'POST token', // the agent is for customers: its token needs one more scope
  'POST session',
  'GET ',
])

// #region second
// Another process, the same visitor: only a session is requested, and the context is still known.
const second = await ask(`${run}-first`, 'Hello again')
assert.deepEqual(second, { answer: 'Hello again: you look at the basket.', asked: ['POST session', 'GET '] })

// A third process, another visitor: shared tokens and responses, but a separate context.
const third = await ask(`${run}-other`, 'Hello', { page: 'the checkout' })
assert.deepEqual(third, { answer: 'Hello: you look at the checkout.', asked: ['POST session', 'GET '] })
// #endregion
console.log(second.answer)

await rm(folder, { recursive: true })
await service.close()
