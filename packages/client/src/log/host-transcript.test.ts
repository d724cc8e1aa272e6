import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listen, setUpScope } from '../../test/fake-scope.ts'
import type { TranscriptConfig, TranscriptEntry, TranscriptOptions } from './entry.ts'
import { Message } from './message.ts'
import { MessageLog } from './message-log.ts'
import { knownMessage, type NewMessage } from './reconcile.ts'

const NOW = 1000

const message = (persona: string, role: string, more = {}) => new Message(persona, role, 'text', more)
const human = (more = {}) => message('customer', 'human', more)
const answer = (more = {}) => message('agent', 'customer support agent', more)

/** Inserts messages of a history, and returns how many entries were removed because of the bounds. */
const insert = (transcript: MessageLog, ...added: NewMessage[]) =>
  transcript.insert(added, 's', () => 'agent_message').removed

describe('record', () => {
  it('keeps message, direction, moment, session and agent', () => {
    const transcript = new MessageLog({})
    const sent = human({ timestamp: 5, sessionId: 's', agentId: 'help' })
    const received = answer()
    transcript.record(sent, 'sent', NOW)
    transcript.record(received, 'received', NOW, 'agent_message')
    expect(transcript.entries()).toEqual([
      { id: '1', message: sent, direction: 'sent', timestamp: 5, sessionId: 's', agentId: 'help' },
      {
        id: '2',
        message: received,
        direction: 'received',
        timestamp: NOW,
        sessionId: undefined,
        agentId: undefined,
      },
    ])
    expect(transcript.size).toBe(2)
  })

  it('[EVT-04] [FLOW-24] never takes a token frame, whatever the settings say', () => {
    for (const config of [{}, { includeMessageTypes: [] }, { enabled: false }]) {
      const transcript = new MessageLog(config)
      for (const direction of ['sent', 'received'] as const)
        expect(transcript.record(message('metadata', 'token'), direction, NOW)).toBeUndefined()
      expect(transcript.size).toBe(0)
    }
  })

  it('token requests are not token frames', () => {
    const transcript = new MessageLog({})
    expect(transcript.record(message('metadata', 'stale_token'), 'received', NOW)).toBeDefined()
  })

  const kinds: Array<[Message, 'sent' | 'received', string | undefined]> = [
    [human(), 'sent', undefined],
    [message('system', 'context'), 'sent', undefined],
    [message('system', 'feedback'), 'sent', undefined],
    [message('system', 'escalation'), 'sent', undefined],
    [message('system', 'graceful disconnect'), 'sent', undefined],
    [message('robot', 'constructor'), 'sent', undefined],
    [answer(), 'received', 'agent_message'],
    [message('metadata', 'error'), 'received', 'error_message'],
    [message('system', 'context validation'), 'received', 'context_validation'],
    [message('system', 'chat history'), 'received', 'chat_history_processed'],
    [message('system', 'heartbeat'), 'received', 'heartbeat_processed'],
    [message('robot', 'human'), 'received', undefined],
  ]
  const keptBy = (config: TranscriptConfig) => {
    const transcript = new MessageLog(config)
    for (const [given, direction, type] of kinds) transcript.record(given, direction, NOW, type)
    return transcript.entries().map(entry => entry.message.role)
  }
  const everything = kinds.map(([given]) => given.role)

  it.each<[TranscriptConfig, string[]]>([
    [{}, everything],
    [{ includeMessageTypes: [] }, everything],
    [{ enabled: false }, []],
    [{ enabled: true, maxEntries: 0 }, []],
    [{ includeMessageTypes: ['customer_message'] }, ['human']],
    [{ includeMessageTypes: ['context_message', 'feedback_message'] }, ['context', 'feedback']],
    [{ includeMessageTypes: ['escalation_message', 'disconnect_message'] }, ['escalation', 'graceful disconnect']],
    [{ includeMessageTypes: ['agent_message', 'heartbeat_processed'] }, ['customer support agent', 'heartbeat']],
    [
      { includeMessageTypes: ['error_message', 'context_validation', 'chat_history_processed'] },
      ['error', 'context validation', 'chat history'],
    ],
    [{ excludeRoles: ['human', 'heartbeat'] }, everything.filter(role => role !== 'human' && role !== 'heartbeat')],
    [{ excludePersonas: ['system', 'robot'] }, ['human', 'customer support agent', 'error']],
    [{ excludePersonas: ['agent'], includeMessageTypes: ['agent_message'] }, []],
    [{ maxEntries: 2 }, ['heartbeat', 'human']],
  ])('[CFG-08] with %j it keeps the right messages', (config, roles) => {
    expect(keptBy(config)).toEqual(roles)
  })

  it('[EVT-04] reports what passes the filters, also when storing is off', () => {
    const transcript = new MessageLog({ enabled: false, excludeRoles: ['heartbeat'] })
    expect(transcript.record(human(), 'sent', NOW)).toMatchObject({ direction: 'sent', timestamp: NOW })
    expect(transcript.record(message('system', 'heartbeat'), 'received', NOW)).toBeUndefined()
    expect(transcript.size).toBe(0)
  })

  it('settings can change on the way', () => {
    const transcript = new MessageLog({ excludeRoles: ['heartbeat'] })
    for (let n = 0; n < 5; n++) transcript.record(human({ timestamp: n }), 'sent', NOW)
    transcript.updateConfig({ maxEntries: 2 })
    expect(transcript.entries().map(entry => entry.timestamp)).toEqual([3, 4])
    transcript.updateConfig({ enabled: false })
    transcript.record(human(), 'sent', NOW)
    transcript.updateConfig({ enabled: true, maxEntries: 3 })
    transcript.record(message('system', 'heartbeat'), 'received', NOW)
    transcript.record(human({ timestamp: 9 }), 'sent', NOW)
    expect(transcript.entries().map(entry => entry.timestamp)).toEqual([3, 4, 9])
  })
})

describe('reading', () => {
  const conversation = () => {
    const transcript = new MessageLog({})
    transcript.record(human({ timestamp: 10 }), 'sent', NOW)
    transcript.record(answer({ timestamp: 20 }), 'received', NOW)
    transcript.record(message('system', 'heartbeat', { timestamp: 20 }), 'received', NOW)
    transcript.record(human({ timestamp: 30 }), 'sent', NOW)
    return transcript
  }

  it.each<[TranscriptOptions, number[]]>([
    [{}, [0, 1, 2, 3]],
    [{ direction: 'both' }, [0, 1, 2, 3]],
    [{ direction: 'sent' }, [0, 3]],
    [{ direction: 'received' }, [1, 2]],
    [{ fromTimestamp: 20 }, [1, 2, 3]],
    [{ toTimestamp: 20 }, [0, 1, 2]],
    [{ fromTimestamp: 20, toTimestamp: 20 }, [1, 2]],
    [{ fromTimestamp: 31 }, []],
    [{ fromTimestamp: 30, toTimestamp: 10 }, []],
    [{ fromTimestamp: 0 }, [0, 1, 2, 3]],
    [{ persona: 'customer' }, [0, 3]],
    [{ role: 'heartbeat' }, [2]],
    [{ persona: 'customer', fromTimestamp: 11, direction: 'sent', role: 'human' }, [3]],
    [{ persona: 'customer', direction: 'received' }, []],
  ])('%j picks the right entries, as rows too', (options, expected) => {
    const transcript = conversation()
    const all = transcript.entries()
    const indexes = transcript.entries(options).map(entry => all.indexOf(entry))
    expect(indexes).toEqual(expected)
    const rows = transcript.toJSON(options)
    expect(rows.map(row => row.entryTimestamp)).toEqual(expected.map(index => all[index]?.timestamp))
  })

  it('a row is plain data with every field', () => {
    const full = new MessageLog({})
    const more = { messageId: 'm-1', messageData: { further: 1 }, from: 'a', to: 'b', agentId: 'help', sessionId: 's' }
    full.record(answer(more), 'received', NOW)
    const row = {
      ...more,
      persona: 'agent',
      role: 'customer support agent',
      content: 'text',
      timestamp: undefined,
      direction: 'received',
      entryTimestamp: NOW,
    }
    expect(full.toJSON()).toStrictEqual([row])
    expect(JSON.parse(JSON.stringify(full.toJSON()))).toEqual([JSON.parse(JSON.stringify(row))])
  })

  it('is the same frozen list until something changes', () => {
    const changing = new MessageLog({ excludeRoles: ['heartbeat'] })
    const empty = changing.entries()
    expect(changing.entries()).toBe(empty)
    expect(Object.isFrozen(empty)).toBe(true)
    changing.record(message('system', 'heartbeat'), 'received', NOW)
    expect(changing.entries()).toBe(empty)
    changing.record(human(), 'sent', NOW)
    const one = changing.entries()
    expect(one).not.toBe(empty)
    expect(empty).toHaveLength(0)
    expect(changing.entries()).toBe(one)
    changing.updateConfig({ maxEntries: 1 })
    expect(changing.entries()).toBe(one)
    changing.clear()
    expect(changing.entries()).toEqual([])
    expect(one).toHaveLength(1)
  })
})

describe('insert', () => {
  const placedAt = (position: number, ...moments: number[]): NewMessage[] =>
    moments.map(timestamp => ({ message: human(), direction: 'sent', timestamp, size: 1, position }))
  const momentsOf = (transcript: MessageLog) => transcript.entries().map(({ timestamp }) => timestamp)

  it('puts entries before the one at a position', () => {
    const transcript = new MessageLog({})
    for (const moment of [1, 2]) transcript.record(human(), 'sent', moment)
    const before = transcript.entries()
    expect(insert(transcript, ...placedAt(1, 3, 4))).toBe(0)
    expect([momentsOf(transcript), transcript.size, before.length]).toEqual([[1, 3, 4, 2], 4, 2])
    transcript.record(human(), 'sent', 5)
    expect(momentsOf(transcript)).toEqual([1, 3, 4, 2, 5])
  })

  it('gives a message an id that is the same after each reload, has no session in it and belongs to no other entry', () => {
    const added = (messageId: string, position: number): NewMessage => ({
      message: answer({ messageId }),
      direction: 'received',
      timestamp: NOW,
      size: 4,
      position,
    })
    const idsOf = (transcript: MessageLog) => transcript.entries().map(({ id }) => id)
    const transcript = new MessageLog({})
    insert(transcript, added('a', 0), added('b', 1))
    insert(transcript, added('a', 2))
    expect(idsOf(transcript)).toEqual([/a$/, /b$/, /a:2$/].map(end => expect.stringMatching(end)))
    const [, second = ''] = idsOf(transcript)
    expect(second).toMatch(/^[0-9a-f]{16}:b$/)
    expect(transcript.entries().some(({ recovered }) => recovered)).toBe(false)
    const reloaded = new MessageLog({})
    insert(reloaded, added('b', 0))
    expect(idsOf(reloaded)).toEqual([second])
  })

  it('asks for the kind of received messages only', () => {
    const asked: string[] = []
    const received: NewMessage = { message: answer(), direction: 'received', timestamp: NOW, size: 4, position: 0 }
    new MessageLog({}).insert([...placedAt(0, 1), received], 's', ({ persona }) => {
      asked.push(persona)
      return 'agent_message'
    })
    expect(asked).toEqual(['agent'])
  })

  it('puts each entry at its own position', () => {
    const transcript = new MessageLog({})
    for (const moment of [1, 2]) transcript.record(human(), 'sent', moment)
    insert(transcript, ...placedAt(0, 3, 4), ...placedAt(1, 5), ...placedAt(2, 6))
    expect(momentsOf(transcript)).toEqual([3, 4, 1, 5, 2, 6])
  })

  it('holds to the limit, also after entries were dropped, and returns the number of removed entries', () => {
    const transcript = new MessageLog({ maxEntries: 4 })
    for (const moment of [1, 2, 3, 4, 5]) transcript.record(human(), 'sent', moment)
    expect(insert(transcript, ...placedAt(0, 6, 7, 8))).toBe(3)
    expect(momentsOf(transcript)).toEqual([2, 3, 4, 5])
    expect(insert(transcript, ...placedAt(4, 6, 7))).toBe(2)
    expect(momentsOf(transcript)).toEqual([4, 5, 6, 7])
  })

  it('stores nothing where nothing is stored', () => {
    const transcript = new MessageLog({ enabled: false })
    expect(insert(transcript, ...placedAt(0, 1))).toBe(0)
    expect(transcript.size).toBe(0)
  })

  it('stores nothing that the filters exclude', () => {
    const transcript = new MessageLog({ excludeRoles: ['human'] })
    const added = transcript.insert(placedAt(0, 1), 's', () => undefined)
    expect(added.inserted).toMatchObject([{ message: { role: 'human' }, entry: undefined }])
    expect([transcript.size, transcript.missing.length]).toEqual([0, 1])
  })
})

describe('what is not stored', () => {
  const MANY = 4_000
  const notedBy = (transcript: MessageLog) => [transcript.missing.length, transcript.isComplete]
  const timesOf = (transcript: MessageLog) => transcript.entries().map(({ timestamp }) => timestamp)

  it('is nothing at first', () => {
    const transcript = new MessageLog({})
    expect([transcript.missing, transcript.isComplete]).toEqual([[], true])
    transcript.record(human(), 'sent', NOW)
    expect([transcript.missing, transcript.isComplete]).toEqual([[], true])
  })

  it('is known where the filters keep it out, apart from heartbeats and tokens', () => {
    const transcript = new MessageLog({ excludeRoles: ['human', 'heartbeat'] })
    transcript.record(human({ messageId: 'm-1' }), 'sent', NOW)
    transcript.record(answer(), 'received', NOW)
    transcript.record(message('system', 'heartbeat'), 'received', NOW)
    transcript.record(message('metadata', 'token'), 'received', NOW)
    expect(transcript.missing).toEqual([knownMessage(human({ messageId: 'm-1' }))])
  })

  it('is known where nothing is stored, also of what is inserted', () => {
    const transcript = new MessageLog({ enabled: false })
    expect(transcript.record(human(), 'sent', NOW)).toBeDefined()
    const received = answer({ messageId: 'm-1' })
    insert(transcript, { message: received, direction: 'received', timestamp: NOW, size: 4, position: 0 })
    expect(transcript.missing).toEqual([knownMessage(human()), knownMessage(received)])
    expect(transcript.isComplete).toBe(true)
  })

  it('is known of cleared entries', () => {
    const transcript = new MessageLog({})
    transcript.record(human(), 'sent', NOW)
    transcript.record(answer(), 'received', NOW)
    transcript.clear()
    expect(transcript.missing).toEqual([knownMessage(human()), knownMessage(answer())])
    expect(transcript.isComplete).toBe(true)
  })

  it('is forgotten beyond a number, and then the transcript says that it is not complete', () => {
    const transcript = new MessageLog({ enabled: false })
    for (let n = 1; n <= MANY; n++) transcript.record(human({ messageId: `m-${n}` }), 'sent', NOW)
    expect(notedBy(transcript)).toEqual([MANY, true])
    transcript.record(human({ messageId: 'last' }), 'sent', NOW)
    expect(notedBy(transcript)).toEqual([MANY / 2, false])
    expect(transcript.missing.at(-1)).toEqual(knownMessage(human({ messageId: 'last' })))
  })

  it('is not taken for complete when more entries were cleared than it can know', () => {
    const transcript = new MessageLog({})
    for (let n = 0; n <= MANY; n++) transcript.record(human(), 'sent', NOW)
    transcript.clear()
    expect(notedBy(transcript)).toEqual([MANY / 2, false])
    const shorter = new MessageLog({})
    for (let n = 1; n <= MANY / 2; n++) shorter.record(human(), 'sent', NOW)
    shorter.clear()
    expect(notedBy(shorter)).toEqual([MANY / 2, true])
  })

  it('is not taken for complete after entries were removed', () => {
    const transcript = new MessageLog({ maxEntries: 1 })
    transcript.record(human(), 'sent', NOW)
    expect(transcript.isComplete).toBe(true)
    transcript.record(human(), 'sent', NOW)
    expect(notedBy(transcript)).toEqual([0, false])
  })

  it('is nothing again for another user', () => {
    const cleared: object[] = []
    const scope = setUpScope()
    listen(scope, 'transcriptCleared', payload => void cleared.push(payload))
    const transcript = new MessageLog({ maxEntries: 1 }, scope)
    for (let n = 0; n < 3; n++) transcript.record(human(), 'sent', NOW)
    transcript.forgetUser()
    expect([transcript.entries(), transcript.missing, transcript.isComplete, cleared]).toEqual([[], [], true, [{}]])
  })

  it('counts the text of a message where its frame is not known', () => {
    const transcript = new MessageLog({ maxBytes: 8 })
    transcript.record(new Message('system', 'context', undefined, { timestamp: 1 }), 'sent', NOW)
    for (const timestamp of [2, 3]) transcript.record(human({ timestamp }), 'sent', NOW)
    expect(timesOf(transcript)).toEqual([1, 2, 3])
    transcript.record(human({ timestamp: 4 }), 'sent', NOW)
    expect(timesOf(transcript)).toEqual([3, 4])
  })

  it('counts what is inserted', () => {
    const transcript = new MessageLog({ maxBytes: 10 })
    for (const timestamp of [1, 2]) transcript.record(human({ timestamp }), 'sent', NOW, undefined, 4)
    const added: NewMessage = { message: human(), direction: 'sent', timestamp: 3, size: 3, position: 2 }
    expect(insert(transcript, added)).toBe(1)
    expect(timesOf(transcript)).toEqual([2, 3])
    transcript.record(human({ timestamp: 4 }), 'sent', NOW, undefined, 3)
    expect(timesOf(transcript)).toEqual([2, 3, 4])
    transcript.record(human({ timestamp: 5 }), 'sent', NOW, undefined, 5)
    expect(timesOf(transcript)).toEqual([4, 5])
  })

  it('is everything with a limit below zero', () => {
    const transcript = new MessageLog({ maxBytes: -1 })
    transcript.record(human(), 'sent', NOW)
    expect(transcript.size).toBe(0)
  })
})

describe('an entry', () => {
  it('says whether it was recovered, also to the listener', () => {
    const recorded: TranscriptEntry[] = []
    const marks: unknown[] = []
    const scope = setUpScope()
    listen(scope, 'transcriptUpdate', ({ entry, recovered }) => {
      recorded.push(entry)
      marks.push(recovered)
    })
    const transcript = new MessageLog({}, scope)
    transcript.record(answer(), 'received', NOW, 'agent_message', 4, true)
    transcript.record(answer(), 'received', NOW, 'agent_message', 4)
    expect(transcript.entries().map(({ recovered }) => recovered)).toEqual([true, undefined])
    expect(marks).toEqual([true, undefined])
    expect(recorded).toEqual(transcript.entries())
    expect(transcript.entries()[0]).toMatchObject({ id: 'id-0', message: answer(), timestamp: NOW })
  })

  it('has no data that is too deep to be written, but its text', () => {
    let messageData: object = {}
    for (let depth = 0; depth < 200; depth++) messageData = { messageData }
    const transcript = new MessageLog({})
    transcript.record(human({ messageData, messageId: 'm-1' }), 'sent', NOW)
    expect(transcript.toJSON()).toMatchObject([{ content: 'text', messageId: 'm-1', messageData: undefined }])
  })

  it('is missed by the listener only when it was removed', () => {
    const removed: number[] = []
    const scope = setUpScope()
    listen(scope, 'transcriptTrimmed', event => void removed.push(event.removed))
    const transcript = new MessageLog({ maxEntries: 1 }, scope)
    transcript.record(human(), 'sent', NOW)
    expect(removed).toEqual([])
    transcript.record(human(), 'sent', NOW)
    transcript.updateConfig({ maxEntries: 1 })
    expect(removed).toEqual([1])
  })

  it('is in no list of its own while there is none', () => {
    expect(new MessageLog({}).entries()).toBe(new MessageLog({}).entries())
  })
})

describe('a long conversation', () => {
  it.each([0, 1, 2, 5])('lets go of all entries beyond the %i that it keeps', async maxEntries => {
    const transcript = new MessageLog({ maxEntries })
    const recorded: Array<WeakRef<Message>> = []
    for (let made = 0; made < 500; made++) {
      const passing = human()
      recorded.push(new WeakRef(passing))
      transcript.record(passing, 'sent', made)
    }
    await collectGarbage()
    expect(transcript.size).toBe(maxEntries)
    expect(recorded.filter(each => each.deref() !== undefined).length).toBeLessThanOrEqual(maxEntries + 1)
  })

  type Step = ['record', boolean] | ['clear'] | ['limit', number] | ['read']
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 20, arbitrary: fc.boolean().map((excluded): Step => ['record', excluded]) },
    { weight: 5, arbitrary: fc.constant<Step>(['read']) },
    { weight: 1, arbitrary: fc.nat(8).map((limit): Step => ['limit', limit]) },
    { weight: 1, arbitrary: fc.constant<Step>(['clear']) },
  )

  it('holds what a plain list would hold, and lists handed out stay as they were', () => {
    fc.assert(
      fc.property(
        fc.option(fc.nat(100), { nil: undefined }),
        fc.option(fc.nat(100), { nil: Number.POSITIVE_INFINITY }),
        fc.array(step, { maxLength: 400, size: 'max' }),
        (maxEntries, maxBytes, steps) => {
          let removed = 0
          const config = { excludeRoles: ['heartbeat'], maxBytes, ...(maxEntries !== undefined && { maxEntries }) }
          const scope = setUpScope()
          listen(scope, 'transcriptTrimmed', event => {
            removed += event.removed
          })
          const transcript = new MessageLog(config, scope)
          const sizeOf = (number: number) => number % 7
          let model: number[] = []
          let limit = maxEntries ?? Number.POSITIVE_INFINITY
          const snapshots: Array<[readonly TranscriptEntry[], number[]]> = []
          let moment = 0
          for (const [name, argument] of steps) {
            moment++
            if (name === 'record') {
              const given = argument ? message('system', 'heartbeat') : human()
              transcript.record(given, argument ? 'received' : 'sent', moment, undefined, sizeOf(moment))
              if (!argument) model = [...model, moment]
            } else if (name === 'clear') {
              transcript.clear()
              model = []
            } else if (name === 'limit') {
              transcript.updateConfig({ maxEntries: argument as number })
              limit = argument as number
            } else snapshots.push([transcript.entries(), model])
            const before = model.length
            model = model.slice(Math.max(0, model.length - limit))
            while (model.reduce((sum, number) => sum + sizeOf(number), 0) > maxBytes) model = model.slice(1)
            expect([transcript.size, removed]).toEqual([model.length, before - model.length])
            removed = 0
          }
          snapshots.push([transcript.entries(), model])
          for (const [entries, expected] of snapshots) expect(entries.map(entry => entry.timestamp)).toEqual(expected)
        },
      ),
    )
  })
})
