import { parseServerMessage } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../conversation/transcript.ts'
import { Message, receivedMessage } from '../outbox/message.ts'
import { HistoryMerge } from './history-merge.ts'

const NOW = 1_000_000
const place = { timestamp: undefined, from: 'Help Desk', agentId: 'help', sessionId: 's1' }
const setUp = () =>
  new HistoryMerge({
    place,
    since: NOW,
    read: (text, receivedIn) => receivedMessage(parseServerMessage(text), receivedIn),
  })

const customer = (content: string, timestamp?: number) => ({ persona: 'customer', role: 'human', content, timestamp })
const answer = (messageId: string | undefined, content: string, timestamp?: number) => ({
  messageId,
  persona: 'agent',
  role: 'customer support agent',
  content,
  timestamp,
})

/** Messages that this page has sent or received. */
const here = (
  direction: 'sent' | 'received',
  frame: ReturnType<typeof answer> | ReturnType<typeof customer>,
): TranscriptEntry => ({
  id: 'e-1',
  message: new Message(frame.persona, frame.role, frame.content, frame),
  direction,
  timestamp: frame.timestamp ?? NOW,
  sessionId: 's1',
  agentId: 'help',
})

const contentsOf = (messages: ReturnType<HistoryMerge['take']>) => messages.map(({ message }) => message.content)

describe('HistoryMerge', () => {
  it('gives each message its direction, sender, recipient, time and origin', () => {
    const [sent, received] = setUp().take([customer('one', 10), answer('m1', 'You said: one', 20)], [])
    expect(sent).toMatchObject({ direction: 'sent', timestamp: 10 })
    expect(sent?.message).toMatchObject({
      from: 'customer',
      to: 'Help Desk',
      agentId: 'help',
      sessionId: 's1',
      timestamp: 10,
    })
    expect(received).toMatchObject({ direction: 'received', timestamp: 20 })
    expect(received?.message).toMatchObject({ messageId: 'm1', from: 'Help Desk', to: 'customer', timestamp: 20 })
  })

  it.each([
    ['customer', 'human', 'sent'],
    ['customer', 'anything', 'sent'],
    ['system', 'context', 'sent'],
    ['system', 'feedback', 'sent'],
    ['system', 'escalation', 'sent'],
    ['system', 'graceful disconnect', 'sent'],
    ['system', 'heartbeat', 'received'],
    ['system', 'context validation', 'received'],
    ['agent', 'human', 'received'],
    ['metadata', 'error', 'received'],
  ])('takes %s / %s for %s', (persona, role, direction) => {
    expect(setUp().take([{ persona, role }], [])).toMatchObject([{ direction }])
  })

  it('gives a message without a time that of the previous one, else the first known time, else now', () => {
    const times = (list: unknown[]) =>
      setUp()
        .take(list, [])
        .map(({ timestamp }) => timestamp)
    expect(times([customer('a'), customer('b', 5), customer('c'), customer('d', 9), customer('e')])).toEqual([
      5, 5, 5, 9, 9,
    ])
    expect(times([customer('a'), customer('b')])).toEqual([NOW, NOW])
    expect(setUp().take([customer('a')], [])[0]?.message.timestamp).toBeUndefined()
  })

  it('omits invalid messages', () => {
    expect(
      contentsOf(setUp().take([null, 7, 'text', [], {}, { persona: 'agent' }, undefined, customer('a')], [])),
    ).toEqual(['a'])
  })

  it('adds a message once, however often the service lists it', () => {
    const messages = setUp()
    const list = [customer('yes', 1), answer('m1', 'Sure?', 2), customer('yes', 3), answer('m2', 'Done', 4)]
    expect(messages.take(list, [])).toHaveLength(4)
    expect(messages.take(list, [])).toEqual([])
    expect(contentsOf(messages.take([...list, answer('m3', 'More', 5)], []))).toEqual(['More'])
  })

  it('counts equal messages without id and time', () => {
    const messages = setUp()
    expect(messages.take([customer('yes'), customer('yes')], [])).toHaveLength(2)
    expect(messages.take([customer('yes'), customer('yes'), customer('yes')], [])).toHaveLength(1)
  })

  it('omits messages that this page has received already', () => {
    const heard = here('received', answer('m2', 'Welcome back', 30))
    expect(contentsOf(setUp().take([answer('m1', 'Welcome', 10), answer('m2', 'Welcome back', 30)], [heard]))).toEqual([
      'Welcome',
    ])
  })

  it('omits messages that this page has sent, but no older one with the same text', () => {
    const mine = here('sent', customer('yes', NOW + 1))
    const list = [customer('yes', 10), customer('yes', NOW + 2)]
    expect(setUp().take(list, [mine])).toMatchObject([{ timestamp: 10 }])
    expect(setUp().take([customer('yes')], [mine])).toEqual([])
  })
})
