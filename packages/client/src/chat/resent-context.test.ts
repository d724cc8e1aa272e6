import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, sentTo, setUp } from '../../test/agent-harness.ts'
import { createFeedbackMessage } from '../conversation/message-helpers.ts'

describe('a connection that breaks', () => {
  it('[REL-83] with receipts repeats context and feedback that it has lost, once and in order', async () => {
    const { clock, emulator, make } = setUp({ settings: { capabilities: ['receipts'] } })
    const { agent } = make({ id: 'help' })
    await agent.initialize()
    await agent.connect()
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await agent.setContext({ plan: 'gold' }, { sendImmediately: true })
    await agent.send(createFeedbackMessage({ rating: 'up', answerMessageId: 'answer-1' }))
    await agent.send('hello')
    await turnEventLoop(5)
    emulator.control.dropSockets()
    await turnEventLoop(1)
    emulator.faults.lift()
    await eventually(() => agent.getState() === 'RECONNECTING')
    await passing(clock, agent.connect())
    await eventually(() => sentTo(emulator).includes('hello'))
    expect(sentTo(emulator)).toEqual(['context', 'feedback', 'hello'])
    await agent.destroy()
  })
})
