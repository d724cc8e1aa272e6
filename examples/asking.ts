// Asking a question, listening to events, and reading the agent's messages in a loop.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
const agent = new AiAgent({ id: 'help', endpoint: service.url, autoConnect: true })

// #region listen
const received: (string | undefined)[] = []
agent.on('agentMessage', ({ payload }) => received.push(payload.message.content))
// #endregion

// #region ask
await agent.initialize()
const answer = await agent.ask('Where is my parcel?', { timeoutMs: 30_000 })
assert.equal(answer.content, 'You said: Where is my parcel?')
// #endregion

// #region line
const answers = await Promise.all([agent.ask('First?'), agent.ask('Second?')])
assert.deepEqual(
  answers.map(({ content }) => content),
  ['You said: First?', 'You said: Second?'],
)
// #endregion

// #region loop
const contents: (string | undefined)[] = []
const reading = new AbortController()
const loop = (async () => {
  for await (const { content } of agent.messages({ signal: reading.signal })) contents.push(content)
})()
await agent.ask('Anything else?')
reading.abort()
await loop
assert.deepEqual(contents, ['You said: Anything else?'])
// #endregion

assert.equal(received.length, 4)

await agent.disconnect()
await service.close()
