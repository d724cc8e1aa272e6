// Sending log entries elsewhere.
import assert from 'node:assert/strict'
import { AiAgent, getLevelName, LogLevel } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
// #region elsewhere
const entries: string[] = []
const agent = new AiAgent({
  id: 'help',
  endpoint: service.url,
  logLevel: LogLevel.DEBUG,
  enableLogging: false,
})
agent.logger.on('log', ({ level, message, loggerName }) => {
  entries.push(`${getLevelName(level)} ${loggerName}: ${message}`)
})
// #endregion
await agent.initialize()
await agent.connect()

// #region entries
const lost = nextEvent(agent, 'closed')
await agent.disconnect()
await lost
assert.deepEqual(entries, [
  'DEBUG AiAgent:help: Connection: IDLE → CONNECTING',
  'DEBUG AiAgent:help: Connection: CONNECTING → CONNECTED',
  'DEBUG AiAgent:help: Connection: CONNECTED → CLOSED',
])
// #endregion

await service.close()
