// Masking of user messages before they are sent, and a preview of it.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })

// #region required
const agent = new AiAgent({
  id: 'billing',
  endpoint: service.url,
  masking: { required: true },
})
agent.on('maskingPatternsRefused', ({ payload }) => {
  for (const { name, reason } of payload.patterns) console.warn(`The pattern "${name}" is not used: it ${reason}.`)
})
// #endregion
await agent.initialize()
await agent.connect()

// #region send
const answer = nextEvent(agent, 'agentMessage')
await agent.send('My card is 4111 1111 1111 1111.')
assert.equal((await answer).message.content, 'You said: My card is ***************1111.')
assert.equal(agent.getTranscript()[0]?.message.content, 'My card is ***************1111.')
// #endregion

// #region preview
const { content, spans } = agent.previewMasking('Call +44 20 7946 0958.')
assert.equal(content, 'Call +44***********58.')
assert.deepEqual(
  spans.map(({ rule, start, end, replacement }) => ({ rule, start, end, replacement })),
  [{ rule: 'Telephone number, international', start: 5, end: 21, replacement: '+44***********58' }],
)
// #endregion

// #region content
const note = agent.maskContent('Noted: 4111 1111 1111 1111')
assert.equal(note, 'Noted: ***************1111')
// #endregion

await agent.disconnect()
await service.close()

// A service without masking rules: no user message is sent.
const bare = createEmulator()
bare.faults.add({ kind: 'answer', route: 'GET */maskingpatterns/chat', status: 503 })
const strict = new AiAgent(
  { id: 'billing', endpoint: bare.origin, masking: { required: true }, enableLogging: false },
  { fetch: bare.fetch, WebSocket: bare.WebSocket },
)
await strict.initialize()

// #region refused
await assert.rejects(strict.send('hello'), { code: 'MESSAGE_ERROR', reason: 'masking_unavailable' })
// #endregion

await strict.destroy()
bare.close()
