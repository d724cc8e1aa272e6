import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TranscriptConfig, TranscriptEntry } from './entry.ts'
import { Message } from './message.ts'
import { MessageLog } from './message-log.ts'
import {
  findAnswer,
  findShown,
  type HistoryMergeOptions,
  knownMessage,
  mergeHistory,
  type Point,
  readHistory,
} from './reconcile.ts'
import { findShownOfTabs, showOnce } from './reconcile-pages.ts'

const NOW = 1_000_000
const origin = { agentName: 'Help Desk', agentId: 'help', sessionId: 's1' }

interface Frame {
  readonly messageId?: string | undefined
  readonly persona: string
  readonly role: string
  readonly content?: string
  readonly timestamp?: number | undefined
}

const customer = (content: string, timestamp?: number): Frame => ({
  persona: 'customer',
  role: 'human',
  content,
  timestamp,
})
const answer = (messageId: string | undefined, content: string, timestamp?: number): Frame => ({
  messageId,
  persona: 'agent',
  role: 'customer support agent',
  content,
  timestamp,
})

/** A page with its transcript, and the steps of a test. */
function setUp(config: TranscriptConfig = {}, more: Partial<HistoryMergeOptions> = {}) {
  const transcript = new MessageLog(config)
  const { sessionId } = origin
  const options: HistoryMergeOptions = { log: transcript, sessionId, openedAt: NOW, isFromStart: true, ...more }
  const record = (direction: 'sent' | 'received') => (frame: Frame, sessionId: string | undefined) =>
    transcript.record(
      new Message(frame.persona, frame.role, frame.content, { ...frame, sessionId }),
      direction,
      frame.timestamp ?? NOW,
    )
  return {
    transcript,
    sent: (frame: Frame, sessionId: string | undefined = 's1') => record('sent')(frame, sessionId),
    received: (frame: Frame, sessionId: string | undefined = 's1') => record('received')(frame, sessionId),
    find: (list: readonly unknown[]) => mergeHistory(readHistory(list, origin), options),
    /** Merges a list and returns the contents of the messages that are new. */
    merge: (list: readonly unknown[]) =>
      transcript
        .insert(mergeHistory(readHistory(list, origin), options), sessionId, () => undefined)
        .inserted.map(({ message }) => message.content),
    contents: () => transcript.entries().map(({ message }) => message.content),
  }
}

describe('mergeHistory', () => {
  it('gives each message its direction, its parties, its time and its session', () => {
    const [sent, received] = setUp().find([customer('one', 10), answer('m1', 'You said: one', 20)])
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
  ])('counts %s / %s as %s', (persona, role, direction) => {
    expect(setUp().find([{ persona, role }])).toMatchObject([{ direction }])
  })

  it('gives a message without a time that of the one before it, else the first known one, else the opening', () => {
    const times = (list: unknown[]) =>
      setUp()
        .find(list)
        .map(({ timestamp }) => timestamp)
    expect(times([customer('a'), customer('b', 5), customer('c'), customer('d', 9), customer('e')])).toEqual([
      5, 5, 5, 9, 9,
    ])
    expect(times([customer('a'), customer('b')])).toEqual([NOW, NOW])
    expect(setUp().find([customer('a')])[0]?.message.timestamp).toBeUndefined()
  })

  it('puts a history behind everything where it begins after the last message that the page has heard', () => {
    const late = setUp({}, { openedAt: 20 })
    late.sent(customer('a', 10))
    late.received(answer('m1', 'b', 20))
    expect(late.merge([customer('c', 30), answer('m2', 'd', 40)])).toEqual(['c', 'd'])
    expect(late.contents()).toEqual(['a', 'b', 'c', 'd'])
    const early = setUp({}, { openedAt: 20 })
    early.received(answer('m1', 'b', 20))
    early.merge([customer('a', 10)])
    expect(early.contents()).toEqual(['a', 'b'])
  })

  it('goes by what it knows of a history that begins after the last message that the page has heard', () => {
    const begun = setUp({}, { openedAt: 20 })
    begun.received(answer('m1', 'a', 20))
    begun.received(answer('m3', 'c', 40))
    begun.merge([answer('m2', 'b', 30), answer('m3', 'c', 40)])
    expect(begun.contents()).toEqual(['a', 'b', 'c'])
    begun.received(answer('m5', 'e', 60))
    begun.merge([answer('m3', 'c', 40), answer('m4', 'd', 50), answer('m5', 'e', 60)])
    expect(begun.contents()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('ignores elements that are not messages', () => {
    expect(setUp().merge([null, 7, 'text', [], {}, { persona: 'agent' }, undefined, customer('a')])).toEqual(['a'])
  })

  it('returns a message once, however often the service sends it', () => {
    const page = setUp()
    const list = [customer('yes', 1), answer('m1', 'Sure?', 2), customer('yes', 3), answer('m2', 'Done', 4)]
    expect(page.merge(list)).toHaveLength(4)
    expect(page.merge(list)).toEqual([])
    expect(page.merge([...list, answer('m3', 'More', 5)])).toEqual(['More'])
  })

  it('counts equal messages without id and time', () => {
    const page = setUp()
    expect(page.merge([customer('yes'), customer('yes')])).toHaveLength(2)
    expect(page.merge([customer('yes'), customer('yes'), customer('yes')])).toHaveLength(1)
  })

  it('omits what this page has received or sent', () => {
    const page = setUp()
    page.received(answer('m2', 'Welcome back', 30))
    page.sent(customer('yes', NOW))
    const list = [answer('m1', 'Welcome', 10), answer('m2', 'Welcome back', 30), customer('yes', NOW - 3_600_000)]
    expect(page.merge(list)).toEqual(['Welcome'])
  })

  it('prefers the id where texts are equal, so that the missed one of two is returned', () => {
    const page = setUp()
    page.received(answer('m2', 'Hello', 20))
    expect(page.find([answer('m1', 'Hello', 20), answer('m2', 'Hello', 20)])).toMatchObject([
      { message: { messageId: 'm1' } },
    ])
  })

  it('compares author, content and time where one side has no id', () => {
    const page = setUp()
    page.received(answer(undefined, 'Hello', 20))
    expect(page.merge([answer('m1', 'Hello', 21), answer('m2', 'Hello', 22)])).toEqual(['Hello'])
  })

  it('ignores received messages of another session, whose ids may be the same', () => {
    const page = setUp()
    page.received(answer('m1', 'Hello', 20), 's0')
    expect(page.merge([answer('m1', 'Hello', 30)])).toEqual(['Hello'])
    expect(page.contents()).toEqual(['Hello', 'Hello'])
  })

  it('merges the last 5,000 elements', () => {
    const list = Array.from({ length: 5_001 }, (_, index) => customer(`text ${index}`, index))
    const found = setUp().find(list)
    expect([found.length, found[0]?.message.content]).toEqual([5_000, 'text 1'])
  })

  it('takes no received message for a sent one of the same words', () => {
    const page = setUp()
    page.received(customer('one', 5))
    expect(page.merge([customer('one', 5)])).toEqual(['one'])
  })

  it('takes a known element whose id differs for another message, unless the times are equal', () => {
    const page = setUp()
    page.received(answer('m1', 'Hello', 20))
    page.received(answer('m2', 'Hello', 30))
    expect(page.merge([answer('m3', 'Hello', 25), answer('m4', 'Hello', 30)])).toEqual(['Hello'])
  })

  it('after a reload restores what the previous page sent, also where this page sent the same text', () => {
    const page = setUp({}, { olderThan: NOW })
    page.sent(customer('yes', NOW + 1))
    expect(page.find([customer('yes', 10), customer('yes', NOW + 2)])).toMatchObject([{ timestamp: 10 }])
    expect(page.find([customer('yes')])).toEqual([])
  })

  it.each([
    ['as old as the last message of the previous page', NOW + 1, NOW, 0],
    ['older, where this page sent it before it opened the session', NOW - 1, NOW - 1, 0],
    ['older, where this page sent it as it opened the session', NOW, NOW - 1, 1],
  ])('after a reload takes a text that is %s for its own or not', (_case, sentAt, time, count) => {
    const page = setUp({}, { olderThan: NOW })
    page.sent(customer('yes', sentAt))
    expect(page.find([customer('yes', time)])).toHaveLength(count)
  })

  it('lets what was cleared account for one element only', () => {
    const page = setUp()
    page.sent(customer('yes'))
    page.transcript.clear()
    expect(page.find([customer('yes'), customer('yes')])).toHaveLength(1)
  })

  it.each<[string, TranscriptConfig, boolean]>([
    ['a transcript that was cleared', {}, true],
    ['a transcript that stores nothing', { enabled: false }, false],
    ['messages that the filters exclude', { excludePersonas: ['agent', 'customer'] }, false],
  ])('omits what is known from %s', (_case, config, isCleared) => {
    const page = setUp(config)
    page.sent(customer('one', 5))
    page.received(answer('m1', 'Hello', 10))
    if (isCleared) page.transcript.clear()
    const list = [customer('one', 5), answer('m1', 'Hello', 10), answer('m2', 'Hello', 20)]
    expect(page.merge(list)).toEqual(['Hello'])
    expect(page.merge(list)).toEqual([])
  })
})

describe('the place of a missed message', () => {
  it('is behind the message that the history has before it', () => {
    const page = setUp()
    page.sent(customer('one', 10))
    page.received(answer('m3', 'third', 40))
    page.merge([customer('one', 11), answer('m1', 'first', 20), answer('m2', 'second', 30), answer('m3', 'third', 40)])
    expect(page.contents()).toEqual(['one', 'first', 'second', 'third'])
  })

  it('is before what the user wrote during the outage', () => {
    const page = setUp()
    page.sent(customer('one', 10))
    page.sent(customer('two, queued', 15))
    page.merge([customer('one', 11), answer('m1', 'answer to one', 20)])
    expect(page.contents()).toEqual(['one', 'answer to one', 'two, queued'])
  })

  it('is behind earlier heartbeats, and before later messages', () => {
    const page = setUp()
    page.sent(customer('one', 10))
    page.received({ persona: 'system', role: 'heartbeat', content: 'beat', timestamp: 12 })
    page.received(answer('m9', 'after the reconnect', 50))
    page.merge([customer('one', 11), answer('m1', 'missed', 20)])
    expect(page.contents()).toEqual(['one', 'beat', 'missed', 'after the reconnect'])
  })

  it('[REL-106] is behind its question that was sent again after the transcript was cleared', () => {
    const page = setUp()
    const question = { ...customer('one', 10), messageId: 'c1' }
    page.sent(question, 's0')
    page.transcript.clear()
    page.sent(question)
    page.merge([customer('one', 10), answer('m1', 'You said: one', 20)])
    expect(page.contents()).toEqual(['one', 'You said: one'])
    // Not a third one when the history has the question of both attempts.
    expect(page.merge([customer('one', 10), customer('one', 15), answer('m1', 'You said: one', 20)])).toEqual([])
  })

  it('is before a message that the history has behind it, whatever their times', () => {
    const page = setUp()
    page.received(answer('m2', 'second', 20))
    page.merge([answer('m1', 'first', 30), answer('m2', 'second', 20)])
    expect(page.contents()).toEqual(['first', 'second'])
  })

  it('is behind a heartbeat of the same time', () => {
    const page = setUp()
    page.received({ persona: 'system', role: 'heartbeat', content: 'beat', timestamp: 20 })
    page.merge([answer('m1', 'missed', 20)])
    expect(page.contents()).toEqual(['beat', 'missed'])
  })

  it('is before what was written before there was a session', () => {
    const page = setUp()
    page.transcript.record(new Message('customer', 'human', 'early'), 'sent', 10)
    page.merge([answer('m1', 'Welcome', 5)])
    expect(page.contents()).toEqual(['Welcome', 'early'])
  })

  it('is behind its question, also behind one that is not stored', () => {
    const page = setUp({ excludeRoles: ['context'] })
    page.sent(customer('one', 10))
    page.sent({ persona: 'system', role: 'context', content: 'here', timestamp: 15 })
    page.merge([
      customer('one', 10),
      { persona: 'system', role: 'context', content: 'here', timestamp: 15 },
      answer('m1', 'Yes', 20),
    ])
    expect(page.contents()).toEqual(['one', 'Yes'])
  })

  it('is before the same words that were said after the transcript was cleared', () => {
    const page = setUp()
    page.sent(customer('one', 10))
    page.transcript.clear()
    page.sent(customer('one', 30))
    page.merge([customer('one'), answer('m1', 'You said: one')])
    expect(page.contents()).toEqual(['You said: one', 'one'])
  })

  it('is behind the messages of an earlier session', () => {
    const page = setUp()
    page.received(answer('m1', 'old session', 90), 's0')
    page.merge([answer('m1', 'missed', 20)])
    expect(page.contents()).toEqual(['old session', 'missed'])
  })
})

describe('a session whose beginning is unknown', () => {
  const later = { isFromStart: false }

  it('takes nothing from before the first known message', () => {
    const page = setUp({}, later)
    page.received(answer('m5', 'known', NOW + 5))
    expect(page.merge([answer('m1', 'old', 1), answer('m5', 'known', NOW + 5), answer('m6', 'new', NOW + 6)])).toEqual([
      'new',
    ])
  })

  it('goes by the time of its opening where nothing is known', () => {
    const page = setUp({}, later)
    expect(
      page.merge([answer('m1', 'old', NOW - 1), answer(undefined, 'timeless'), answer('m2', 'new', NOW + 1)]),
    ).toEqual(['new'])
  })

  it('takes what the history has behind a known message for new, with or without a time', () => {
    const page = setUp({}, later)
    page.received(answer('m5', 'known', NOW + 5))
    expect(
      page.merge([answer('m5', 'known', NOW + 5), answer('m6', 'timeless'), answer('m7', 'new', NOW + 1)]),
    ).toEqual(['timeless', 'new'])
  })

  it('takes what is as old as its opening for old', () => {
    expect(setUp({}, later).merge([answer('m1', 'old', NOW)])).toEqual([])
  })
})

/** The messages of a history: `me: text` of the user, `agent: text`, with `#id` and `@time` behind it. */
const historyOf = (...lines: string[]) =>
  readHistory(
    lines.map(line => {
      const [, author, content = '', messageId, time] = /^(\w+): ([^#@]*?) ?(?:#(\S+))? ?(?:@(\d+))?$/.exec(line) ?? []
      const timestamp = time === undefined ? undefined : Number(time)
      const frame = author === 'me' ? customer(content, timestamp) : answer(messageId, content, timestamp)
      return author === 'me' && messageId !== undefined ? { ...frame, messageId } : frame
    }),
    origin,
  ).map(({ message }) => message)

const pointOf = (line: string | undefined): Point =>
  line === 'start' || line === undefined ? line : historyOf(line)[0]

describe('readHistory', () => {
  it('reads the last 20,000 elements', () => {
    const list = Array.from({ length: 20_001 }, (_, index) => customer(`text ${index}`))
    const read = readHistory(list, origin)
    expect([read.length, read[0]?.message.content]).toEqual([20_000, 'text 1'])
  })
})

describe('findShown', () => {
  it.each<[string, string | undefined, string[], string[], string[]]>([
    ['shows words behind the point', 'agent: Sure? #a', ['one'], ['agent: Sure? #a', 'me: one'], ['0']],
    ['shows no words before the point', 'agent: Sure? #a', ['one'], ['me: one', 'agent: Sure? #a'], []],
    ['shows all words of a session from its start', 'start', ['one'], ['me: one'], ['0']],
    ['shows no words without a point', undefined, ['one'], ['me: one'], []],
    ['shows ids without a point', undefined, ['one'], ['me: other #0'], ['0']],
    ['takes no id of the agent for that of a message', undefined, ['one'], ['agent: one #0'], []],
    ['counts an element that an id shows for no other message', 'start', ['one', 'one'], ['me: one #1'], ['1']],
    ['shows the first of equal words', 'start', ['one', 'one'], ['me: one'], ['0']],
    ['shows equal words of two connections only if all are there', 'start', ['one', 'one/2'], ['me: one'], []],
    ['shows them if all are there', 'start', ['one', 'one/2'], ['me: one', 'me: one'], ['0', '1']],
    ['finds the point by its time where ids repeat', 'agent: Hi #a @5', ['one'], ['agent: Hi #a @5', 'me: one'], ['0']],
    ['finds a point at the first place without ids', 'agent: Hi @5', ['one'], ['agent: Hi @6', 'me: one'], ['0']],
    ['takes the words of the user for no point of the agent', 'agent: one @5', ['one'], ['me: one @6'], ['0']],
    [
      'counts what is as old as a lost point as known',
      'agent: Hi #b @9',
      ['one'],
      ['me: one @9', 'agent: Ho #c @10'],
      [],
    ],
    ['shows all where a lost point is older than the list', 'agent: Hi #b @1', ['one'], ['me: one @2'], ['0']],
    ['counts a message without a connection as of one', 'start', ['one/', 'one/'], ['me: one'], ['0']],
    ['counts no text of the agent', 'start', ['one'], ['agent: one #x'], []],
    ['finds a point without ids by its words', 'agent: Hi @5', ['one'], ['me: one', 'agent: Hi @6', 'me: two'], []],
    [
      'takes the last of the places that a point may have',
      'agent: Sure? @5',
      ['one'],
      ['agent: Sure?', 'me: one', 'agent: Sure?'],
      [],
    ],
    ['takes no other id for the point', 'agent: Hi #b @9', ['one'], ['agent: Hi #a @1', 'me: one @2'], []],
    ['counts words under an id of the service', 'start', ['one'], ['me: one #service-1'], ['0']],
    ['shows one by its id and the other by its words', 'start', ['one', 'one'], ['me: one #0', 'me: one'], ['0', '1']],
    [
      'finds the point by its words where no time is known',
      'agent: Hi',
      ['one'],
      ['agent: Hi', 'me: one', 'agent: Ho'],
      ['0'],
    ],
    ['finds the point by its time where it had no id', 'agent: Hi @5', ['one'], ['agent: Hi #a @5', 'me: one'], ['0']],
    [
      'finds a point that the history has without id and time',
      'agent: Hi #a @5',
      ['one'],
      ['agent: Hi', 'me: one'],
      ['0'],
    ],
    ['shows nothing before such a point', 'agent: Hi #a @5', ['one'], ['me: one', 'agent: Hi', 'me: two'], []],
    [
      'goes by the time where the point is gone',
      'agent: Hi #b @9',
      ['one', 'two'],
      ['me: one @8', 'me: two @10'],
      ['1'],
    ],
  ])('%s', (_case, point, texts, history, shown) => {
    const unproven = texts.map((text, index) => {
      const [content, connection = 1] = text.split('/')
      const message = new Message('customer', 'human', content)
      return { id: String(index), message, written: connection === '' ? undefined : { opening: Number(connection) } }
    })
    expect(findShown(historyOf(...history), unproven, pointOf(point)).map(({ id }) => id)).toEqual(shown)
  })
})

describe('findAnswer', () => {
  it.each<[string, string | undefined, number, string[], ReturnType<typeof findAnswer> | string]>([
    ['proves nothing without messages of the user', 'start', 1, ['agent: Hi'], undefined],
    ['does not find a question before the point', 'agent: Hi #a', 1, ['me: one', 'agent: Hi #a'], { isAsked: false }],
    ['finds a question without an answer', 'start', 1, ['agent: Hi', 'me: one'], { isAsked: true }],
    ['finds the first answer behind the question', 'start', 1, ['me: one', 'agent: Yes', 'agent: More'], 'Yes'],
    ['does not take earlier words for the question', 'start', 2, ['me: one', 'agent: Yes'], { isAsked: false }],
    ['takes the last of equal words', 'start', 2, ['me: one', 'agent: A', 'me: one', 'agent: B'], 'B'],
    ['proves nothing without a point', undefined, 1, ['me: two', 'agent: Yes'], undefined],
  ])('%s', (_case, point, count, history, expected) => {
    const found = findAnswer(historyOf(...history), new Message('customer', 'human', 'one'), pointOf(point), count)
    if (typeof expected === 'string') expect(found?.answer?.content).toBe(expected)
    else expect(found).toEqual(expected)
  })
})

describe('showOnce', () => {
  const MINUTE = 60_000

  it.each([
    ['the entry with its id', { id: 'm-2', content: 'one' }, true, undefined],
    ['an entry with its words, from a minute before it on', { id: 'x', content: 'one' }, true, 'm-1'],
    ['no entry that may not be it', { id: 'x', content: 'one' }, false, 'added'],
    ['no other author, role or words', { id: 'x', content: 'three' }, true, 'added'],
  ])('takes for the message of another page %s', (_case, { id, content }, mayShow, expected) => {
    const page = setUp()
    page.received(customer('one', NOW))
    page.sent({ ...customer('one', NOW - MINUTE - 1), messageId: 'early' })
    page.sent({ ...customer('one', NOW - MINUTE), messageId: 'm-1' })
    page.sent({ ...customer('two', NOW), messageId: 'm-2' })
    page.sent({ ...customer('three', NOW), messageId: 'm-3', persona: 'system' })
    page.sent({ ...customer('three', NOW), messageId: 'm-4', role: 'feedback' })
    const { transcript } = page
    const before = transcript.size
    const message = new Message('customer', 'human', content, { messageId: id, timestamp: NOW })
    const show = (id: string) =>
      showOnce(transcript, { id, timestamp: NOW, message, state: 'sent' }, content.length, () => mayShow)
    show(id)
    expect(transcript.size - before).toBe(expected === 'added' ? 1 : 0)
    if (expected !== 'm-1') return
    // It shows one message only.
    show('y')
    expect(transcript.size - before).toBe(1)
  })
})

describe('findShown of messages without text', () => {
  it('compares their data', () => {
    const dataOf = (value: number) => ({ persona: 'customer', role: 'human', messageData: { value } })
    const unproven = [1, 2].map(value => ({
      id: String(value),
      message: new Message('customer', 'human', undefined, { messageData: { value } }),
    }))
    const history = readHistory([dataOf(2), { persona: 'customer', role: 'human' }], origin)
    const shown = findShown(
      history.map(({ message }) => message),
      unproven,
      'start',
    )
    expect(shown.map(({ id }) => id)).toEqual(['2'])
  })
})

describe('findShownOfTabs', () => {
  const MINUTE = 60_000

  /** `text @time` of each message that the tabs have sent, in minutes; its id is its place in the list. */
  const entriesOf = (...sent: string[]) => {
    const page = setUp()
    page.received(answer('a', 'one', NOW))
    for (const [index, line] of sent.entries()) {
      const [content = '', time] = line.split(' @')
      const messageId = content.startsWith('?') ? undefined : String(index)
      page.sent({ ...customer(content.replace('?', ''), NOW + Number(time) * MINUTE), messageId })
    }
    return page.transcript.entries()
  }

  const knownOf = (entries: readonly TranscriptEntry[]) =>
    entries.map(({ message, direction, timestamp }) => ({ ...knownMessage(message, direction === 'sent'), timestamp }))

  it.each<[string, string[], string[], string[]]>([
    ['shows a text that the history has', ['one @0'], ['one @0'], ['0']],
    ['shows one up to a minute before it', ['one @5'], ['one @4'], ['0']],
    ['shows none from longer before it', ['one @5'], ['one @3.99'], []],
    ['shows no other text', ['one @0'], ['two @0'], []],
    ['shows none without a time', ['one @0'], ['one'], []],
    ['shows both where the history has them in another order', ['one @0', 'one @9'], ['one @9', 'one @0'], ['0', '1']],
    ['shows both of two equal ones', ['one @0', 'one @9'], ['one @0', 'one @9'], ['0', '1']],
    ['shows none of two that may be either', ['one @0', 'one @0.5'], ['one @0.5'], []],
    ['shows the later one where the earlier is missing', ['one @0', 'one @9'], ['one @9'], ['1']],
    ['shows the earlier one only if both are there', ['one @0', 'one @9'], ['one @0'], []],
    ['puts both in order first', ['one @9', 'one @0'], ['one @9', 'one @0'], ['1', '0']],
    ['finds the later of three', ['one @9', 'one @0', 'one @18'], ['one @18', 'one @9'], ['0', '2']],
    ['names no message without an id', ['?one @0', 'two @0'], ['one @0', 'two @0'], ['1']],
  ])('%s', (_case, sent, history, shown) => {
    const elements = history.map(line => {
      const [content = '', time] = line.split(' @')
      return customer(content, time === undefined ? undefined : NOW + Number(time) * MINUTE)
    })
    const messages = readHistory(elements, origin).map(({ message }) => message)
    expect(findShownOfTabs(messages, knownOf(entriesOf(...sent)))).toEqual(shown)
  })

  it('counts no message without text, and none that was received', () => {
    const page = setUp()
    page.sent({ persona: 'system', role: 'feedback', messageId: 'data', timestamp: NOW })
    page.received({ ...customer('one', NOW), messageId: 'received' })
    const history = readHistory(
      [{ persona: 'system', role: 'feedback', timestamp: NOW }, customer('one', NOW)],
      origin,
    ).map(({ message }) => message)
    expect(findShownOfTabs(history, knownOf(page.transcript.entries()))).toEqual([])
  })
})

/** Few texts, so that equal ones are frequent. */
const words = fc.constantFrom('yes', 'no')

/** What is said over one connection, in the order of the service, and how much of its end the connection loses. */
const connection = fc.record({
  said: fc.array(fc.record({ isAgent: fc.boolean(), content: words }), { maxLength: 6 }),
  lost: fc.nat(3),
  missed: fc.nat(3),
})

describe('a history', () => {
  it.each([
    ['ids and times', true, true],
    ['ids', true, false],
    ['times', false, true],
    ['neither ids nor times', false, false],
  ])('with %s shows what arrived and adds what was missed, by the record of the service', (_case, hasIds, hasTimes) => {
    fc.assert(
      fc.property(fc.array(connection, { minLength: 1, maxLength: 4 }), connections => {
        const page = setUp()
        const record: Frame[] = []
        let count = 0
        for (const [number, { said, lost, missed }] of connections.entries()) {
          const point: Point = record.length > 0 ? readHistory(record.slice(-1), origin)[0]?.message : 'start'
          const lastOf = (isAgent: boolean, length: number) =>
            new Set(said.filter(each => each.isAgent === isAgent).slice(-length || Number.POSITIVE_INFINITY))
          const [lostOnes, missedOnes] = [lastOf(false, lost), lastOf(true, missed)]
          const unproven = said.flatMap(each => {
            const { isAgent, content } = each
            const time = ++count
            const timestamp = hasTimes ? time : undefined
            const frame = isAgent
              ? answer(hasIds ? `a-${time}` : undefined, content, timestamp)
              : customer(content, timestamp)
            const hasArrived = isAgent || !lostOnes.has(each)
            if (hasArrived) record.push(frame)
            if (isAgent && !missedOnes.has(each)) page.received(frame)
            if (isAgent) return []
            const id = `c-${time}`
            // The clock of the page is another one than that of the service.
            page.sent({ ...frame, timestamp: NOW + time, messageId: id })
            const message = new Message(frame.persona, frame.role, content)
            return [{ id, message, written: { opening: number }, hasArrived }]
          })
          const history = readHistory(record, origin).map(({ message }) => message)
          // Of equal ones the last are lost, so that their number decides which ones arrived.
          const shown = findShown(history, unproven, point)
          expect(shown.filter(({ hasArrived }) => !hasArrived)).toEqual([])
          const question = unproven.at(-1)
          const same = unproven.filter(({ message }) => message.content === question?.message.content)
          const isAsked = question && findAnswer(history, question.message, point, same.length)?.isAsked
          if (isAsked) expect(question.hasArrived).toBe(true)
          // Without times the last message of the record may be taken for a later one.
          if (hasTimes) {
            expect(shown).toHaveLength(unproven.filter(({ hasArrived }) => hasArrived).length)
            expect(isAsked ?? false).toBe(question?.hasArrived ?? false)
          }
          page.merge(record)
          const received = page.transcript.entries({ direction: 'received' }).map(({ message }) => message.content)
          expect(received).toEqual(record.filter(({ persona }) => persona === 'agent').map(({ content }) => content))
          expect(page.merge(record)).toEqual([])
        }
        expect(page.transcript.entries({ direction: 'sent' })).toHaveLength(
          connections.flatMap(({ said }) => said.filter(({ isAgent }) => !isAgent)).length,
        )
      }),
    )
  })
})
