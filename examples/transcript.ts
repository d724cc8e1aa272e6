// The transcript, live and as plain data.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

// #region service
const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
// #endregion

// #region config
const agent = new AiAgent({
  id: 'help',
  endpoint: service.url,
  transcriptConfig: { excludeRoles: ['heartbeat'], maxEntries: 200 },
})
// #endregion
await agent.initialize()
await agent.connect()

// #region live
const lines: string[] = []
agent.on('transcriptUpdate', ({ payload }) => lines.push(`${payload.direction}: ${payload.message.content}`))

const answer = nextEvent(agent, 'agentMessage')
await agent.send('hello')
await answer
assert.deepEqual(lines, ['sent: hello', 'received: You said: hello'])
// #endregion

// #region read
const said = agent.getTranscript({ direction: 'received', persona: 'agent' })
assert.equal(said[0]?.message.content, 'You said: hello')

const rows = agent.getTranscriptAsJSON()
assert.deepEqual(
  rows.map(({ direction, content }) => ({ direction, content })),
  [
    { direction: 'sent', content: 'hello' },
    { direction: 'received', content: 'You said: hello' },
  ],
)
// #endregion

// #region same
assert.equal(agent.getTranscript(), agent.getTranscript())
// #endregion

await agent.disconnect()
await service.close()
