import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type FakeTransport, messagesOf, setUpOutbox } from '../../test/outbox-harness.ts'
import { SDKError } from '../errors.ts'
import { Message } from '../log/message.ts'
import { MIN_PAUSE_MS } from './turn-taking.ts'

const LIMIT = 6

type Step =
  | { do: 'ask'; timeoutMs: number | undefined }
  | { do: 'connect' | 'lose' | 'close' | 'move' | 'answer' | 'error' | 'noise' | 'clear' | 'send' }
  | { do: 'history'; holdsQuestion: boolean; holdsAnswer: boolean }
  | { do: 'abort'; which: number }
  | { do: 'pass'; ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('ask' as const), timeoutMs: fc.constantFrom(undefined, 50, 500) }),
  },
  {
    weight: 12,
    arbitrary: fc
      .constantFrom(
        'connect',
        'connect',
        'connect',
        'answer',
        'answer',
        'answer',
        'error',
        'lose',
        'lose',
        'close',
        'move',
        'clear',
        'noise',
        'send',
      )
      .map(name => ({ do: name }) as Step),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('history' as const),
      holdsQuestion: fc.boolean(),
      holdsAnswer: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('abort' as const), which: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 300 }) }) },
)

interface Asked {
  readonly id: string
  readonly text: string
  readonly abort: AbortController
  outcome: Promise<void>
  result?: Message | Error
}

/** An outbox with questions, over a connection that comes and goes. */
class World {
  readonly asked: Asked[] = []
  readonly parts = setUpOutbox({ maxQueueSize: LIMIT })
  transport: FakeTransport | undefined
  readonly transports: FakeTransport[] = []
  /** Answers by the text of the question that was open, as this test sees it. */
  readonly answers = new Map<string, Set<Message>>()
  #sends = 0

  /** Questions in the order in which they were written. */
  get written(): string[] {
    return this.transports.flatMap(({ contents }) => contents.map(String)).filter(text => text.startsWith('question'))
  }

  /** The question whose answer may come: the last one written, unless it has settled. */
  get open(): Asked | undefined {
    const text = this.written.at(-1)
    const asked = this.asked.find(each => each.text === text)
    return asked?.result ? undefined : asked
  }

  async take(step: Step): Promise<void> {
    const { outbox, clock, state, connect, lose, close } = this.parts
    switch (step.do) {
      case 'ask':
        this.#ask(step.timeoutMs)
        break
      case 'connect':
        if (this.transport) break
        this.transport = connect()
        this.transports.push(this.transport)
        break
      case 'lose':
        this.transport = undefined
        lose()
        break
      case 'close':
        this.transport = undefined
        close()
        break
      case 'move':
        this.transport = undefined
        lose()
        state.sessionId += '+'
        break
      case 'send':
        if (outbox.size < LIMIT) outbox.send(`plain ${this.#sends++}`)
        break
      case 'answer':
        if (this.transport) outbox.handleMessage(this.#note(new Message('agent', 'any', 'An answer')))
        break
      case 'error':
        if (this.transport) outbox.handleMessage(new Message('metadata', 'error', 'Too many'))
        break
      case 'noise':
        outbox.handleMessage(new Message('system', 'heartbeat'))
        break
      case 'history': {
        if (!this.transport) break
        const question = { persona: 'customer', role: 'human', content: this.open?.text ?? 'x' }
        const answer = { persona: 'agent', role: 'any', content: `to ${this.open?.text}` }
        outbox.handleHistory(
          messagesOf([...(step.holdsQuestion ? [question] : []), ...(step.holdsAnswer ? [answer] : [])]),
        )
        break
      }
      case 'clear':
        outbox.clear()
        break
      case 'abort':
        this.asked[step.which % Math.max(1, this.asked.length)]?.abort.abort()
        break
      case 'pass':
        await clock.advance(step.ms)
        break
      default:
        step satisfies never
    }
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
  }

  /** Remembers a message as an answer to the open question. */
  #note(message: Message): Message {
    const text = this.open?.text
    if (text !== undefined) this.answers.set(text, (this.answers.get(text) ?? new Set()).add(message))
    return message
  }

  #ask(timeoutMs: number | undefined): void {
    const abort = new AbortController()
    const text = `question ${this.asked.length}`
    const promise = this.parts.outbox.ask(text, {
      signal: abort.signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    const asked: Asked = { id: text, text, abort, outcome: Promise.resolve() }
    asked.outcome = promise.then(
      message => void (asked.result = message),
      error => void (asked.result = error),
    )
    this.asked.push(asked)
  }
}

it('[REL-10] [REL-13] settles every question, with an answer of its own or an error, in the order of asking', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
      const world = new World()
      const { outbox, clock, connect } = world.parts
      for (const each of steps) {
        await world.take(each)
        expect(outbox.size).toBeLessThanOrEqual(LIMIT)
      }
      // The turns go on whatever happened: with a good connection every question is sent, or has settled.
      await clock.advance(10_000)
      if (!world.transport) world.transports.push(connect())
      await clock.advance(200_000)
      await Promise.all(world.asked.map(({ outcome }) => outcome))

      for (const { text, result } of world.asked) {
        if (!(result instanceof Message)) expect(result).toBeInstanceOf(SDKError)
        else if (result.content === 'An answer') expect(world.answers.get(text)?.has(result)).toBe(true)
        else expect(result.content).toBe(`to ${text}`)
      }
      const order = world.asked.map(({ text }) => text)
      expect(world.written).toEqual(order.filter(text => world.written.includes(text)))
      expect(outbox.size).toBe(0)
      await clock.advance(MIN_PAUSE_MS)
      expect(clock.pendingTimers).toBe(0)
    }),
    { numRuns: 300 },
  )
})
