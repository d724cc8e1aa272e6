import { eventually } from '@aiagent/test-support'
import { expect, it } from 'vitest'
import { lastSession, payloadsOf, SlowHandler, setUp } from '../../test/agent-harness.ts'

const MIB = 1024 * 1024

it('[SEC-70] replaces a connection whose frames of more than 32 MiB wait for a handler, and loses none that the service repeats', async () => {
  const { clock, emulator, make } = setUp({ settings: { capabilities: ['receipts', 'resume'] } })
  const { agent, told } = make()
  const slow = new SlowHandler()
  await agent.initialize()
  agent.getMessageProcessor().addHandler(slow, 0)
  await agent.connect()
  const session = lastSession(emulator)
  const push = (content: string, filling = '') => emulator.control.say(session, { content, messageData: { filling } })
  push('slow')
  const contents = Array.from({ length: 34 }, (_, n) => `n${n}`)
  for (const content of contents) push(content, 'x'.repeat(MIB))
  push('last')
  await eventually(() => payloadsOf(told, 'closed').length > 0, 'the end of the connection')
  expect(payloadsOf(told, 'closed')).toMatchObject([{ code: 1009, cause: 'frame_too_large', willReconnect: true }])
  expect(payloadsOf(told, 'error').map(({ error }) => error.message)).toEqual([expect.stringContaining('32 MiB')])
  slow.fail()
  await eventually(() => payloadsOf(told, 'agentMessage').length > 20, 'the frames that waited')
  await clock.advance(30_000)
  const texts = () => payloadsOf(told, 'agentMessage').map(({ message }) => message.content)
  await eventually(() => texts().includes('last'), 'the last message')
  expect(texts()).toEqual([...contents, 'last'])
  await agent.destroy()
})
