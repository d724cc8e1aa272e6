import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { listen, setUpScope } from '../../test/fake-scope.ts'
import { Message } from '../log/message.ts'
import { MessageProcessor } from './handlers.ts'
import { Inbox } from './inbox.ts'
import { BaseMessageHandler, type HandlerResult, handled, resultOf } from './message-handler.ts'

function setUp(during: (entry: string) => void = () => {}) {
  const log: string[] = []
  const note = (entry: string) => {
    log.push(entry)
    during(entry)
  }
  const finished: unknown[] = []
  const errors: unknown[] = []
  const sizes: number[] = []
  let overflows = 0
  const processor = new MessageProcessor({ onRefreshRequired: () => log.push('refresh') })
  const clock = new ManualClock()
  const scope = setUpScope({
    environment: { clock },
    logger: {
      warn: text => void log.push(text.startsWith('No handler') ? 'unclaimed' : text),
      error: (_text, error) => {
        errors.push(error)
        log.push('failed')
      },
    },
  })
  listen(scope, 'message', ({ data }) => {
    if (data instanceof Message) note(`handled ${data.content}`)
  })
  listen(scope, 'agentMessage', () => void log.push(`${log.pop()} agent_message`))
  listen(scope, 'error', ({ error }) => void log.push(`unreadable ${error.message}`))
  const inbox = new Inbox(scope, {
    processor,
    connection: { observe() {}, confirm() {}, refuseFrames: () => void overflows++ },
    log: {
      record: (message: Message, _direction: string, _timestamp: number, type: string, size: number) => {
        sizes.push(size)
        note(`arrived ${message.content} ${type}`)
      },
    },
    outbox: { handleReceipt: ({ role }: Message) => role === 'receipt' },
    recovery: {
      isReplaying: false,
      isConsumed: () => false,
      handleAnswer() {},
      handleMessage: ({ content }: Message) => void finished.push(content),
    },
    working: { start() {}, end() {} },
  } as never)
  const receive = (...contents: string[]) => {
    for (const content of contents) inbox.handleFrame(JSON.stringify({ persona: 'agent', role: 'x', content }))
  }
  return { log, finished, errors, sizes, processor, inbox, receive, clock, overflows: () => overflows }
}

/** Takes what starts with `slow`, and answers when the test says so. */
class SlowHandler extends BaseMessageHandler {
  readonly pending: Array<{ resolve(result: HandlerResult): void; reject(error: unknown): void; message: Message }> = []

  canHandle({ content }: Message): boolean {
    return content?.startsWith('slow') === true
  }
  handle(message: Message): Promise<HandlerResult> {
    return new Promise((resolve, reject) => this.pending.push({ resolve, reject, message }))
  }
  async settle(error?: unknown): Promise<void> {
    const next = this.pending.shift()
    if (!next) throw new Error('Nothing waits.')
    if (error === undefined) next.resolve(resultOf('slow', next.message, handled(next.message)))
    else next.reject(error)
    await new Promise<void>(resolve => setImmediate(resolve))
  }
}

class Misbehaving extends BaseMessageHandler {
  readonly #work: (message: Message) => unknown
  readonly #takes: () => boolean
  constructor(work: (message: Message) => unknown, takes = () => true) {
    super()
    this.#work = work
    this.#takes = takes
  }
  canHandle(): boolean {
    return this.#takes()
  }
  handle(message: Message): HandlerResult {
    return this.#work(message) as HandlerResult
  }
}

describe('frames', () => {
  it('arrive, are handled, and emitted, one after the other', () => {
    const { log, receive } = setUp()
    receive('a', 'b')
    expect(log).toEqual([
      'arrived a agent_message',
      'handled a agent_message',
      'arrived b agent_message',
      'handled b agent_message',
    ])
  })

  it('come with the length of their text', () => {
    const { inbox, sizes } = setUp()
    const text = JSON.stringify({ persona: 'agent', role: 'x', content: 'one', messageData: { more: [1, 2] } })
    inbox.handleFrame(text)
    expect(sizes).toEqual([text.length])
  })

  it('reports an unreadable one, and handles the next', () => {
    const { log, inbox, receive } = setUp()
    for (const data of ['x', '[]', '{}', '{"persona":"agent"}', new ArrayBuffer(1), undefined]) inbox.handleFrame(data)
    receive('a')
    expect(log.filter(line => line.startsWith('unreadable'))).toHaveLength(6)
    expect(log.slice(-2)).toEqual(['arrived a agent_message', 'handled a agent_message'])
  })

  it('reports one that no handler accepts', () => {
    const { log, inbox } = setUp()
    inbox.handleFrame('{"persona":"robot","role":"beep","content":"b"}')
    expect(log).toEqual(['arrived b undefined', 'unclaimed', 'handled b'])
  })
})

describe('handlers of the host', () => {
  it('that take their time hold up what is behind, and nothing is overtaken', async () => {
    const { log, processor, receive } = setUp()
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive('slow 1', 'a', 'slow 2', 'b')
    expect(log).toEqual(['arrived slow 1 undefined'])
    await slow.settle()
    expect(log.slice(1)).toEqual([
      'handled slow 1',
      'arrived a agent_message',
      'handled a agent_message',
      'arrived slow 2 undefined',
    ])
    receive('c')
    expect(log).toHaveLength(5)
    await slow.settle()
    expect(log.slice(5)).toEqual([
      'handled slow 2',
      'arrived b agent_message',
      'handled b agent_message',
      'arrived c agent_message',
      'handled c agent_message',
    ])
  })

  const MIB = 1024 * 1024

  it('[SEC-70] that take their time hold up frames of at most 32 MiB; the one beyond is dropped and reported', async () => {
    const { finished, processor, receive, overflows } = setUp()
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive('slow')
    const filling = 'x'.repeat(MIB)
    for (let n = 0; n < 31; n++) receive(filling)
    receive('last')
    expect(overflows()).toBe(0)
    receive(filling)
    expect(overflows()).toBe(1)
    await slow.settle()
    expect(finished).toEqual(['slow', ...Array.from({ length: 31 }, () => filling), 'last'])
  })

  it('[SEC-70] have the whole budget again once frames were handled, or the conversation has ended', async () => {
    const { finished, processor, receive, inbox, overflows } = setUp()
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    const fill = () => {
      for (let n = 0; n < 31; n++) receive('x'.repeat(MIB))
    }
    for (const end of [() => slow.settle(), () => slow.settle(), async () => inbox.clear()]) {
      receive('slow')
      fill()
      await end()
    }
    expect([overflows(), finished.length]).toEqual([0, 64])
    receive('slow', 'a', 'slow again')
    fill()
    receive('x'.repeat(MIB))
    expect(overflows()).toBe(1)
  })

  it('that reject are reported, and the others are handled', async () => {
    const { log, errors, processor, receive } = setUp()
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive('slow', 'a')
    const reason = new Error('no')
    await slow.settle(reason)
    expect(errors).toEqual([reason])
    expect(log.slice(1, 4)).toEqual(['failed', 'handled slow', 'arrived a agent_message'])
  })

  it('that throw are reported once, and the message counts as arrived', () => {
    const throwing = () => {
      throw new Error('no')
    }
    for (const handler of [new Misbehaving(throwing), new Misbehaving(() => undefined, throwing)]) {
      const { log, errors, processor, receive } = setUp()
      processor.addHandler(handler, 0)
      receive('a')
      processor.removeHandler(handler)
      receive('b')
      expect(errors).toHaveLength(1)
      expect(log).toEqual([
        'arrived a undefined',
        'failed',
        'handled a',
        'arrived b agent_message',
        'handled b agent_message',
      ])
    }
  })

  it.each([null, undefined, 'text', 7])('that return %j against their type have no result', async value => {
    for (const work of [() => value, () => Promise.resolve(value)]) {
      const { log, errors, processor, receive } = setUp()
      processor.addHandler(new Misbehaving(work), 0)
      receive('a')
      await new Promise<void>(resolve => setImmediate(resolve))
      expect(errors).toEqual([])
      expect(log).toEqual(['arrived a undefined', 'handled a'])
    }
  })

  it('[REL-172] that never answer count as failed after 30 seconds, and the messages behind are handled', async () => {
    const { clock, errors, log, processor, receive } = setUp()
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive('slow', 'behind')
    await clock.advance(29_999)
    expect(log).toEqual(['arrived slow undefined'])
    await clock.advance(1)
    const expected = ['arrived slow undefined', 'failed', 'handled slow']
    expect(log).toEqual([...expected, 'arrived behind agent_message', 'handled behind agent_message'])
    expect(errors).toEqual([new Error('It did not settle within 30 seconds.')])
    await slow.settle()
    expect(log).toHaveLength(5)
    expect(clock.pendingTimers).toBe(0)
  })

  it('that never answer hold up nothing once the conversation was left', async () => {
    const { log, processor, inbox, receive } = setUp()
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive('slow', 'of the old conversation')
    inbox.clear()
    receive('new')
    await slow.settle()
    receive('newer')
    expect(log.filter(line => line.startsWith('handled'))).toEqual([
      'handled new agent_message',
      'handled newer agent_message',
    ])
    expect(log.join()).not.toContain('arrived of the old')
  })

  it('keep the order of the wire when a frame arrives while the waiting ones are handled', async () => {
    const { log, processor, receive } = setUp(entry => {
      if (entry === 'handled slow') receive('c')
    })
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive('slow', 'a', 'b')
    await slow.settle()
    const handled = log.filter(line => line.startsWith('handled')).map(line => line.split(' ')[1])
    expect(handled).toEqual(['slow', 'a', 'b', 'c'])
  })
})

describe('a listener that ends the conversation', () => {
  it.each([
    ['of the slow message', 'handled slow', ['slow']],
    ['before a waiting message is handled', 'arrived a agent_message', ['slow']],
    ['of a message that waited', 'handled a', ['slow', 'a']],
  ])('%s drops what waits', async (_case, when, expected) => {
    const { log, processor, inbox, receive } = setUp(entry => {
      if (entry === when) inbox.clear()
    })
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive('slow', 'a', 'b')
    await slow.settle()
    expect(log.filter(line => line.startsWith('handled')).map(line => line.split(' ')[1])).toEqual(expected)
    receive('new')
    expect(log.at(-1)).toBe('handled new agent_message')
  })

  it.each(['slow', 'a'])('before the handler of "%s" runs leaves the next conversation alone', async content => {
    const { log, processor, inbox, receive } = setUp(entry => {
      if (entry.startsWith(`arrived ${content}`)) inbox.clear()
    })
    const slow = new SlowHandler()
    processor.addHandler(slow, 0)
    receive(content, 'new')
    expect(slow.pending).toEqual([])
    expect(log.slice(1)).toEqual(['arrived new agent_message', 'handled new agent_message'])
  })

  it('in its handler leaves the next conversation alone', async () => {
    const { log, processor, inbox, receive } = setUp()
    const slow = new SlowHandler()
    const handle = slow.handle.bind(slow)
    slow.handle = message => {
      inbox.clear()
      return handle(message)
    }
    processor.addHandler(slow, 0)
    receive('slow', 'new')
    await slow.settle()
    expect(log.slice(1)).toEqual(['arrived new agent_message', 'handled new agent_message'])
  })

  it('gets nothing of the message into the next one', () => {
    const { finished, inbox, receive } = setUp(entry => {
      if (entry.startsWith('handled a')) inbox.clear()
    })
    receive('a', 'new')
    expect(finished).toEqual(['new'])
  })
})
