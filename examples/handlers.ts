// A custom handler for one kind of message, and reading messages as objects.
import assert from 'node:assert/strict'
import { AiAgent, BaseMessageHandler, type HandlerResult, Message } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url })

// #region handler
/** Handles frames with the waiting time for a human, which this deployment sends. */
class WaitingTimeHandler extends BaseMessageHandler {
  override readonly resultType = 'waiting_time'
  minutes: unknown

  canHandle({ persona, role }: Message): boolean {
    return persona === 'system' && role === 'waiting time'
  }

  handle(message: Message): HandlerResult {
    this.minutes = message.messageData?.['minutes']
    const { persona, role, content, messageId, timestamp = 0, sessionId, agentId, messageData: raw = {} } = message
    const about = { messageId, timestamp, sessionId, agentId, message: { persona, role, content, raw } }
    return {
      type: this.resultType,
      ...about,
      from: { name: 'System', isAi: false },
      to: { name: 'Client', isAi: false },
    }
  }
}

const waiting = new WaitingTimeHandler()
agent.getMessageProcessor().addHandler(waiting)
// #endregion

await agent.initialize()
await agent.connect()
const [session] = service.emulator.world.sessions.values()

// #region message
const arrived = nextEvent(agent, 'message')
service.emulator.control.pushFrame(session?.id ?? '', {
  persona: 'system',
  role: 'waiting time',
  messageData: { minutes: 5 },
})
const { data } = await arrived
assert(data instanceof Message && data.isIncoming())
assert.equal(waiting.minutes, 5)
// #endregion

await agent.disconnect()
await service.close()
