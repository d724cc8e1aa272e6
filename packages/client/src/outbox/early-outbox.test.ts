import { describe, expect, it } from 'vitest'
import { rejection } from '../../test/agent-harness.ts'
import { setUpEarlyOutbox } from '../../test/outbox-harness.ts'
import { SDKError } from '../errors.ts'
import { Message } from './message.ts'

const setUp = () => setUpEarlyOutbox({ isReady: false })

describe('before the code that sends has loaded', () => {
  it('the first question keeps its turn when the code arrives', async () => {
    const { outbox, attach, becomeReady } = setUp()
    const first = outbox.ask('one')
    outbox.ask('two').catch(() => {})
    expect(outbox.size).toBe(2)
    const { connect, sending } = attach()
    becomeReady()
    const { contents } = connect()
    expect(contents).toEqual(['one'])
    sending.handleMessage(new Message('agent', 'any', 'the answer'))
    expect((await first).content).toBe('the answer')
  })

  it('[REL-12] a question names what it waits for when its time is over', async () => {
    const { outbox, clock } = setUp()
    const asked = rejection(outbox.ask('one', { timeoutMs: 1_000 }))
    await clock.advance(1_000)
    expect(await asked).toMatchObject({ reason: 'timeout', message: expect.stringContaining('not initialized') })
    expect(outbox.size).toBe(0)
  })

  it('[REL-86] a held message can be cancelled, and another one cannot be withdrawn', () => {
    const { outbox, failures } = setUp()
    outbox.send('one', { id: 'one' })
    expect([outbox.withdraw('two'), outbox.delivery('one')?.cancel(), outbox.size]).toEqual([false, true, 0])
    expect(failures).toEqual([])
  })

  it('[REL-83] a cleared outbox reports each held message once', () => {
    const { outbox, failures } = setUp()
    for (const id of ['one', 'two']) outbox.send(id, { id })
    outbox.clear()
    expect(failures).toMatchObject(['one', 'two'].map(messageId => ({ reason: 'cleared', messageId })))
    expect(failures).toHaveLength(2)
  })

  it.each<[string, (outbox: ReturnType<typeof setUp>['outbox']) => unknown, string]>([
    ['a sign-out', outbox => outbox.forgetUser(), 'signed_out'],
    ['destroy()', outbox => outbox.destroy(new SDKError('Destroyed.', 'ABORTED')), 'destroyed'],
  ])('[REL-83] %s settles a message and rejects a question', async (_what, end, reason) => {
    const { outbox } = setUp()
    outbox.send('one', { id: 'one' })
    const delivery = outbox.delivery('one')
    const asked = rejection(outbox.ask('two'))
    end(outbox)
    expect([await delivery?.outcome, delivery?.reason]).toEqual(['failed', reason])
    expect(await asked).toBeInstanceOf(SDKError)
    expect(outbox.size).toBe(0)
  })

  it('[REL-12] the end of the chat rejects a question, and keeps a message', async () => {
    const { outbox, failures } = setUp()
    outbox.send('one')
    const asked = rejection(outbox.ask('two'))
    outbox.handleClosed()
    expect(await asked).toMatchObject({ reason: 'closed' })
    expect([outbox.size, failures]).toEqual([1, []])
  })
})
