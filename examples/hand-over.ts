// Escalation to a human: the address of the live chat, what a page does with it, and reporting it to the service.
import assert from 'node:assert/strict'
import { AiAgent, createEscalationMessage, type Escalation, handOverAddress } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url })
await agent.initialize()
await agent.connect()

// #region ways
/** Text for the user: a link to the live chat, or the other ways to reach a human. */
function waysToHuman({ escalationType, escalationData }: Escalation): string[] {
  if (escalationType === 'live') {
    const address = handOverAddress(escalationData)
    return address ? [`Chat with a colleague: ${address}`] : ['A colleague takes over.']
  }
  return escalationData.options.map(({ label, value }) => (value ? `${label}: ${value}` : label))
}
// #endregion

// #region event
const handedOver = nextEvent(agent, 'escalation')
await agent.send('I want to talk to a human')
const ways = waysToHuman(await handedOver)
assert.match(ways[0] ?? '', /^Chat with a colleague: https:\/\/\S+$/)
// #endregion

// #region report
await agent.send(createEscalationMessage({ escalationEvent: { type: 'live', state: 'opened' } }))
// #endregion

const [session] = service.emulator.world.sessions.values()
const answered = nextEvent(agent, 'agentMessage')
await agent.send('Thanks')
await answered
// Frames arrive in order: with the answer to the last one, the report has arrived too.
assert.deepEqual(session?.escalationEvents, [{ type: 'live', state: 'opened' }])

// Other ways to reach a human arrive in the same form.
const offered = nextEvent(agent, 'escalation')
service.emulator.control.pushFrame(session.id, {
  persona: 'agent',
  role: 'customer support agent',
  content: 'We are closed. You can call us tomorrow, or write.',
  messageData: {
    escalation: true,
    escalationData: { live: false, phone: true, phoneNumber: '+1 555 0100', email: true },
  },
})
assert.deepEqual(waysToHuman(await offered), ['CALL: +1 555 0100', 'EMAIL'])

await agent.disconnect()
await service.close()
