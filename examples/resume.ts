// A conversation that survives a reload: the same session and the transcript.
import assert from 'node:assert/strict'
import { AiAgent, type AiAgentConfig, MemoryCacheAdapter, type TranscriptEntry } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
const lineOf = ({ direction, message }: TranscriptEntry) => `${direction}: ${message.content}`

// Replaces the session storage of a tab, which survives a reload.
const adapter = new MemoryCacheAdapter()
// #region config
const config: AiAgentConfig = {
  id: 'help',
  endpoint: service.url,
  resume: true,
  // Not needed in a page.
  cache: { adapter, contextPrefix: 'visitor-1:' },
}
// #endregion

const before = new AiAgent(config)
await before.initialize()
await before.connect()
const answer = nextEvent(before, 'agentMessage')
await before.send('hello')
await answer
await before.destroy()

// #region after
const agent = new AiAgent(config)
const shown: string[] = []
agent.on('transcriptRestored', () => shown.splice(0, shown.length, ...agent.getTranscript().map(lineOf)))
await agent.initialize()
assert.deepEqual(shown, ['sent: hello', 'received: You said: hello'])
// #endregion
await agent.connect()
assert.equal(service.emulator.world.sessions.size, 1)
await agent.destroy()

// #region lost
for (const sessionId of service.emulator.world.sessions.keys()) service.emulator.control.forgetSession(sessionId)

const later = new AiAgent(config)
const lost = nextEvent(later, 'error')
await later.initialize()
assert.match((await lost).error.message, /no longer knows the stored session/)
// #endregion

await later.destroy()
await service.close()
