import { ManualClock } from '@aiagent/test-support'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MessageError, SDKError } from '../errors.ts'
import { Message } from './message.ts'
import { QuestionLine } from './question-line.ts'

const LIMIT = 6

type Step =
  | { do: 'ask'; timeoutMs: number | undefined }
  | { do: 'refuse next' | 'write' | 'drop' | 'answer' | 'error' | 'noise' | 'end' | 'reopen' | 'move' | 'clear' }
  | { do: 'abort'; which: number }
  | { do: 'pass'; ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('ask' as const), timeoutMs: fc.constantFrom(undefined, 50, 500) }),
  },
  {
    weight: 10,
    arbitrary: fc
      .constantFrom(
        'write',
        'write',
        'answer',
        'answer',
        'error',
        'drop',
        'end',
        'reopen',
        'move',
        'clear',
        'noise',
        'refuse next',
      )
      .map(name => ({ do: name }) as Step),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('abort' as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 200 }) }) },
)

/** A line of questions over a queue of one that is written and dropped by hand. */
class World {
  readonly clock = new ManualClock()
  readonly asked: { id: string; outcome: Promise<void>; result?: Message | Error; abort: AbortController }[] = []
  /** Ids in the queue, and in the order in which they were submitted. */
  readonly queue: string[] = []
  readonly submitted: string[] = []
  /** The question that an answer belongs to now, as the rules have it. */
  open: string | undefined
  /** The first message of the agent after a question was written, while the question was out. */
  readonly answers = new Map<string, Message>()
  session = 's0'
  #spokeAt = Number.NEGATIVE_INFINITY
  #refusesNext = false
  #ids = 0
  readonly line = new QuestionLine({
    clock: this.clock,
    newId: () => `q${this.#ids++}`,
    sessionId: () => this.session,
    submit: (_text, id) => {
      expect(this.isQuiet).toBe(true)
      if (this.#refusesNext) {
        this.#refusesNext = false
        throw new MessageError('No.', 'encoding_failed', { messageId: id })
      }
      this.queue.push(id)
      this.submitted.push(id)
    },
    withdraw: id => void this.queue.splice(this.queue.indexOf(id), 1),
    limit: LIMIT,
    waiting: () => this.queue.length,
    full: id => new MessageError('Full.', 'queue_full', { messageId: id }),
  })

  /** Whether the agent has been silent for so long that the next question's turn may come. */
  get isQuiet(): boolean {
    return this.clock.now() - this.#spokeAt >= 50
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'ask':
        this.#ask(step.timeoutMs)
        break
      case 'refuse next':
        this.#refusesNext = true
        break
      case 'write': {
        const id = this.queue.shift()
        if (id === undefined) break
        this.open = id
        this.line.written(id)
        break
      }
      case 'drop': {
        const messageId = this.queue.shift()
        if (messageId !== undefined) this.line.failed(new MessageError('Dropped.', 'cleared', { messageId }))
        break
      }
      case 'answer': {
        const message = new Message('agent', 'any', 'An answer')
        this.#spokeAt = this.clock.now()
        if (this.open !== undefined) this.answers.set(this.open, message)
        this.open = undefined
        this.line.heard(message)
        break
      }
      case 'error':
        this.open = undefined
        this.line.heard(new Message('metadata', 'error', 'Too many'))
        break
      case 'noise':
        this.line.heard(new Message('system', 'heartbeat'))
        this.line.written('of somebody else')
        this.line.failed(new MessageError('Dropped.', 'cleared', { messageId: 'of somebody else' }))
        break
      case 'end':
        this.open = undefined
        this.line.ended()
        break
      case 'reopen':
        this.line.opened()
        break
      case 'move':
        this.open = undefined
        this.session += '+'
        this.line.opened()
        break
      case 'clear':
        this.line.clear()
        break
      case 'abort': {
        const asked = this.asked[step.which % Math.max(1, this.asked.length)]
        asked?.abort.abort()
        break
      }
      case 'pass':
        await this.clock.advance(step.ms)
    }
    await Promise.resolve()
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    // Whoever has settled is not out any more, whatever the reason.
    const settled = this.asked.find(({ id }) => id === this.open)
    if (settled?.result) this.open = undefined
  }

  #ask(timeoutMs: number | undefined): void {
    const abort = new AbortController()
    const id = `q${this.#ids}`
    const promise = this.line.ask('?', { signal: abort.signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
    const asked: World['asked'][number] = { id, abort, outcome: Promise.resolve() }
    asked.outcome = promise.then(
      message => void (asked.result = message),
      error => void (asked.result = error),
    )
    this.asked.push(asked)
  }
}

it('settles every question, and gives each the first answer after it was written, in the order of asking', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
      const world = new World()
      for (const each of steps) {
        await world.take(each)
        const unsettled = world.asked.filter(({ result }) => !result).length
        const out = world.queue.length + (world.open === undefined ? 0 : 1)
        // Somebody's turn it is as long as anybody waits and the agent is silent, and each has a timer while it waits.
        if (world.isQuiet) expect(out).toBe(unsettled > 0 ? 1 : 0)
        expect(world.clock.pendingTimers - unsettled).toBeGreaterThanOrEqual(0)
        expect(world.clock.pendingTimers - unsettled).toBeLessThanOrEqual(world.isQuiet ? 0 : 1)
        expect(world.line.size).toBeLessThanOrEqual(LIMIT)
      }
      await world.clock.advance(120_000)
      await Promise.all(world.asked.map(({ outcome }) => outcome))

      for (const { id, result } of world.asked) {
        if (result instanceof Message) expect(result).toBe(world.answers.get(id))
        else {
          expect(result).toBeInstanceOf(SDKError)
          expect(world.answers.has(id)).toBe(false)
        }
      }
      // The turns follow the order of asking; nothing is left behind.
      const order = world.asked.map(({ id }) => id)
      expect(world.submitted).toEqual(order.filter(id => world.submitted.includes(id)))
      expect(world.queue).toEqual([])
      expect(world.line.size).toBe(0)
      expect(world.clock.pendingTimers).toBe(0)
    }),
    { numRuns: 300 },
  )
})
