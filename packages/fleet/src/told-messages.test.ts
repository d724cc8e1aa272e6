import { Message, type TranscriptEntry } from '@aiagent/client'
import { describe, expect, it } from 'vitest'
import { ToldMessages } from './told-messages.ts'

const entry = (messageId: string | undefined, timestamp: number, persona = 'agent'): TranscriptEntry => ({
  id: `${messageId}`,
  message: new Message(persona, 'customer support agent', 'text', { messageId, timestamp }),
  direction: persona === 'agent' ? 'received' : 'sent',
  timestamp,
  sessionId: 's',
  agentId: 'help',
})
const idsOf = (entries: readonly TranscriptEntry[]) => entries.map(({ message }) => message.messageId)

/** The position that a worker leaves after it has told these messages. */
function positionAfter(...told: readonly [id: string | undefined, at: number][]): string {
  const messages = new ToldMessages(undefined)
  for (const [id, at] of told) messages.add(id, at)
  return `${messages}`
}

describe('the messages that a worker has told', () => {
  it('are told once, also by the next worker', () => {
    const told = new ToldMessages(positionAfter(['a', 1], ['b', 2]))
    expect([told.add('b', 2), told.add('c', 3), told.add('c', 3)]).toEqual([false, true, false])
  })

  it('are followed by what a history has after them', () => {
    const history = [entry('a', 1), entry('b', 2), entry('q', 3, 'customer'), entry('c', 4), entry('d', 5)]
    expect(idsOf(new ToldMessages(positionAfter(['a', 1], ['b', 2])).missed(history))).toEqual(['c', 'd'])
    expect(idsOf(new ToldMessages(undefined).missed(history))).toEqual(['a', 'b', 'c', 'd'])
  })

  it('[REL-139] leave out none that was said before one that arrives earlier than the history', () => {
    const told = new ToldMessages(positionAfter(['a', 1]))
    // Nobody has told "b" and "c" when "d" arrives.
    expect(told.add('d', 4)).toBe(true)
    const missed = told.missed([entry('a', 1), entry('b', 2), entry('c', 3), entry('d', 4)])
    expect(idsOf(missed)).toEqual(['b', 'c'])
    for (const { message, timestamp } of missed) expect(told.add(message.messageId, timestamp)).toBe(true)
    expect(idsOf(new ToldMessages(`${told}`).missed([entry('c', 3), entry('d', 4), entry('e', 5)]))).toEqual(['e'])
  })

  it('are told once however many arrive before the history', () => {
    const told = new ToldMessages(positionAfter(['a', 1]))
    const live = Array.from({ length: 30 }, (_, n) => entry(`live ${n}`, 10 + n))
    for (const { message, timestamp } of live) told.add(message.messageId, timestamp)
    expect(idsOf(told.missed([entry('a', 1), entry('b', 2), ...live]))).toEqual(['b'])
  })

  it('are compared by time where their ids are not in the history', () => {
    const told = new ToldMessages(positionAfter([undefined, 5]))
    expect(idsOf(told.missed([entry(undefined, 5), entry(undefined, 6), entry('x', 7)]))).toEqual([undefined, 'x'])
  })

  it('take no space for more ids than the next worker needs', () => {
    const many = Array.from({ length: 100 }, (_, n): [string, number] => [`m-${n}`, n])
    expect(JSON.parse(positionAfter(...many)).ids).toHaveLength(20)
  })
})
