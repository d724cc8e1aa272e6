// Rating an answer, choosing one of the options that follow it, and asking for a human.
import assert from 'node:assert/strict'
import { AiAgent, createFeedbackMessage } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator()
const agent = new AiAgent({ id: 'help', endpoint: service.url })
await agent.initialize()
await agent.connect()

// #region answer
const answered = nextEvent(agent, 'agentMessage', ({ message }) => message.showFeedback)
const offered = nextEvent(agent, 'agentMessage', ({ message }) => message.showOptions)
await agent.send('How do I reset my router?')

const answer = await answered
assert.deepEqual(answer.message.sources, [
  { title: 'How to reset your router', url: 'https://help.router-shop.example/reset' },
])
// #endregion

// #region options
const { options = [] } = (await offered).message
const [option = ''] = options
assert.equal(option, 'How do I set up my new router?')

const next = nextEvent(agent, 'agentMessage')
await agent.send(option)
assert.deepEqual((await next).message.sources, [
  { title: 'How to set up your new router', url: 'https://help.router-shop.example/setting-up-the-router' },
])
// #endregion

// #region feedback
await agent.send(createFeedbackMessage({ rating: 'up', answerMessageId: answer.messageId ?? '' }))
// #endregion

// #region escalation
const handedOver = nextEvent(agent, 'agentMessage', ({ message }) => message.escalationType === 'live')
await agent.send('I want to talk to a human')
const { escalationData } = (await handedOver).message
assert.equal(typeof escalationData?.entrypointUrl, 'string')
// #endregion

// Frames arrive in order: with the answer to the last one, the rating has arrived too.
const [session] = service.emulator.world.sessions.values()
assert.deepEqual(session?.feedback, [{ rating: 'up', answerMessageId: answer.messageId }])

await agent.disconnect()
await service.close()
