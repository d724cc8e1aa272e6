import { type AiAgent, MemoryCacheAdapter, preload } from '@aiagent/client'
import type { ServerMessage } from '@aiagent/protocol'
import { eventually, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passing } from '../../client/test/agent-harness.ts'
import { setUpView } from '../test/view-harness.ts'
import type { ConversationMessage } from './conversation-message.ts'
import type { ConversationView } from './conversation-snapshot.ts'

// Loaded before the clock is moved: loading a module takes real time.
await preload({ resume: true, persistQueue: true })

/** Two agents, one after the other on the same page: the second one masks card numbers. */
const AGENTS = ['help', 'billing'] as const

const OPTIONS = ['Yes', 'No']

const CARD = ['Card ', '4111 1111 1111 1111', ', please'] as const

/** One answer, several, or a question with options, by the text. */
const reply = ({ text }: { text: string }) => {
  const answer = {
    content: `About ${text}`,
    messageData: { sources: [{ title: text, url: `https://docs.example.test/` }] },
  }
  if (text === 'human') {
    const escalationData = { live: true, entrypointUrl: 'https://live.example.test/chat' }
    return { content: 'A colleague takes over.', messageData: { escalation: true, escalationData } }
  }
  if (text === 'several') return [answer, { content: 'And more' }, answer]
  if (text === 'options')
    return { content: 'Shall I?', role: 'follow up question agent', messageData: { options: OPTIONS } }
  return answer
}

/** What a message must show, as a fold over what the service recorded. */
interface Expected {
  author: 'user' | 'agent' | 'colleague'
  content: string
  options: readonly string[]
  chosenOption: string | undefined
  canChoose: boolean
  rating: string | undefined
  sources: readonly string[]
  maskedRanges: readonly { start: number; end: number }[]
  escalation: string | undefined
  /** `either`: not to be known after its session. */
  fate: 'delivered' | 'unknown' | 'either' | undefined
}

type Step = { do: 'say'; text: string } | { do: 'choose' | 'rate'; at: number } | { do: (typeof EVENTS)[number] }

const EVENTS = [
  'unasked',
  'overlap',
  'read',
  'cut',
  'outage',
  'missed',
  'clear',
  'restart',
  'logout',
  'reload',
  'crash',
  'crash-unproven',
  'crash-lost',
  'retry',
  'switch',
] as const

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('say'),
      text: fc.constantFrom('one', 'Yes', 'several', 'options', 'human', CARD.join('')),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('choose', 'rate'), at: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom(...EVENTS) }) },
) as fc.Arbitrary<Step>

/** The store of pages: one that has crashed writes nothing more. */
class PageStore extends MemoryCacheAdapter {
  hasCrashed = false

  override set(...given: Parameters<MemoryCacheAdapter['set']>) {
    return this.hasCrashed ? undefined : super.set(...given)
  }

  override delete(key: string) {
    return this.hasCrashed ? undefined : super.delete(key)
  }
}

/** A view that is driven by steps, and what its service must have recorded. */
class Driver {
  readonly #tab = setUpView({ reply })
  agent!: AiAgent
  view!: ConversationView
  /** Entries of the session's history that the user has cleared from this page. */
  #hidden = 0
  /** Entries of the session's history that the user has read, or that were there before the page. */
  #read = 0
  #isSecond = false
  /** The messages of conversations before the present one, as this page must show them. */
  #above: readonly Expected[] = []
  /** Number of texts that were made up. */
  #texts = 0
  readonly #cache = { adapter: new PageStore(), contextPrefix: 'tab:' }
  /** A message that the page before has lost, and the number of messages before it. */
  #lost: { readonly content: string; index: number } | undefined

  async open(): Promise<void> {
    this.#cache.adapter.hasCrashed = false
    this.#lost = undefined
    this.#above = []
    const id = AGENTS[Number(this.#isSecond)] ?? ''
    this.agent = this.#tab.load({ id, persistQueue: true, cache: this.#cache }).agent
    this.view = this.#tab.show(this.agent)
    const stored = this.#stored(id)
    await this.view.start()
    this.#hidden = 0
    this.#read = stored
  }

  /** Number of messages of the session that a page of this agent continues. */
  #stored(id: string): number {
    const sessions = [...this.#tab.emulator.world.sessions.values()]
    return sessions.findLast(({ agent }) => agent.details.agentId === id)?.history.entries().length ?? 0
  }

  async play(next: Step): Promise<void> {
    const { clock, emulator } = this.#tab
    const { view, agent } = this
    if (next.do === 'say') await this.#answered(view.send(next.text))
    else if (next.do === 'choose') {
      const item = view.getSnapshot().messages.findLast(({ canChoose }) => canChoose)
      if (item) await this.#answered(view.choose(item.id, OPTIONS[next.at % 2] ?? ''))
    } else if (next.do === 'rate') {
      const rateable = view.getSnapshot().messages.filter(({ canRate }) => canRate)
      const item = rateable[next.at % Math.max(1, rateable.length)]
      if (item) {
        await view.rate(item.id, next.at % 3 ? 'up' : 'down')
        await eventually(() => this.#record.feedback.at(-1)?.answerMessageId === item.messageId)
      }
    } else if (next.do === 'unasked') {
      for (const content of ['Still there?', 'Take your time.']) emulator.control.say(this.#tab.session(), { content })
    } else if (next.do === 'overlap') {
      // The agent says something between two messages that wait for their answers.
      emulator.settings.replyDelayMs = 20
      await view.send('one')
      await eventually(() => this.#history.at(-1)?.content === 'one')
      emulator.control.say(this.#tab.session(), { content: 'One moment.' })
      await eventually(() => view.getSnapshot().messages.at(-1)?.content === 'One moment.')
      await view.send('two')
      await eventually(() => this.#history.at(-1)?.content === 'two')
      await passing(clock, this.#answer('two'))
      emulator.settings.replyDelayMs = 0
    } else if (next.do === 'read') {
      view.markRead()
      this.#read = this.#history.length
    } else if (next.do === 'cut') {
      await this.#loseConnection()
      await this.#reconnect()
      await turnEventLoop()
    } else if (next.do === 'outage') {
      await this.#playOutage()
    } else if (next.do === 'missed') {
      await this.#loseConnection()
      // A missed message follows the last one that the service has, ahead of those that it may not have.
      if (this.#lost?.index === this.#history.length) this.#lost.index++
      emulator.control.say(this.#tab.session(), { content: 'By the way' })
      const content = this.#newText()
      await this.view.send(content)
      await this.#reconnect()
      await this.#answer(content)
    } else if (next.do === 'crash') {
      // The message waits in the queue of the page that ends.
      await this.#loseConnection()
      const content = this.#newText()
      await this.view.send(content)
      await turnEventLoop(5)
      await this.#reload()
      await this.#answer(content)
    } else if (next.do === 'crash-unproven' || next.do === 'crash-lost') {
      await this.#crashAfterWrite(next.do === 'crash-lost')
    } else if (next.do === 'retry') {
      await this.#retry()
    } else if (next.do === 'switch') {
      this.#isSecond = !this.#isSecond
      await this.#reload()
    } else if (next.do === 'clear') {
      agent.clearTranscript()
      this.#hidden = this.#read = this.#history.length
      this.#lost = undefined
      this.#above = []
    } else if (next.do === 'restart') {
      // The session that is over proves nothing of a further message before an answer, but for what a history has shown.
      this.#above = this.expected().map((each, index, all) => ({
        ...each,
        canChoose: false,
        escalation: undefined,
        fate: each.fate && all[index - 1]?.author === 'user' ? 'either' : each.fate,
      }))
      await passing(clock, view.restart())
      this.#hidden = this.#read = 0
      this.#lost = undefined
    } else if (next.do === 'logout') {
      await passing(clock, agent.logout())
      await view.start()
      this.#hidden = this.#read = 0
      this.#lost = undefined
      this.#above = []
    } else await this.#reload()
  }

  /** The connection breaks before the answer comes, and the user writes another message meanwhile. */
  async #playOutage(): Promise<void> {
    const { clock, emulator } = this.#tab
    const { view, agent } = this
    const count = view.getSnapshot().messages.length
    emulator.settings.replyDelayMs = 20
    await view.send('before')
    await eventually(() => this.#history.at(-1)?.content === 'before')
    emulator.control.dropSockets()
    await eventually(() => !agent.isConnected())
    emulator.settings.replyDelayMs = 0
    const content = this.#newText()
    await view.send(content)
    expect(view.getSnapshot().messages.at(-1)).toMatchObject({ content, delivery: 'queued' })
    await clock.advance(25)
    await eventually(() => agent.isConnected())
    await eventually(() => view.getSnapshot().messages.length === count + 4)
  }

  /** The page crashes when it has written a message, before it has stored that. */
  async #crashAfterWrite(isLost: boolean): Promise<void> {
    const { emulator } = this.#tab
    const { adapter } = this.#cache
    await this.#loseConnection()
    const content = this.#newText()
    await this.view.send(content)
    await turnEventLoop(5)
    this.agent.on('deliveryUpdate', ({ payload }) => {
      if (payload.state === 'sent') adapter.hasCrashed = true
    })
    if (isLost) emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await this.#reconnect()
    await eventually(() => adapter.hasCrashed)
    if (!isLost) await this.#answer(content)
    await turnEventLoop()
    emulator.faults.lift()
    await this.#reload()
    if (isLost) this.#lost = { content, index: this.#history.length }
  }

  /** Sends a lost message again, unless the conversation has continued since. */
  async #retry(): Promise<void> {
    const { content, index } = this.#lost ?? {}
    if (content === undefined) return
    const lost = this.view.getSnapshot().messages.findLast(item => item.content === content)
    expect(lost).toMatchObject({ author: 'user' })
    if (!lost || index !== this.#history.length) return
    expect(lost.delivery).toBe('unknown')
    this.#lost = undefined
    await this.view.retry(lost.id)
    await this.#answer(content)
  }

  /** A text that was not sent before: a history of the plain wire names messages of the user by nothing else. */
  #newText(): string {
    return `message ${this.#texts++}`
  }

  async #loseConnection(): Promise<void> {
    this.#tab.emulator.control.dropSockets()
    await eventually(() => !this.agent.isConnected())
  }

  async #reconnect(): Promise<void> {
    await this.#tab.clock.advance(1)
    await eventually(() => this.agent.isConnected())
  }

  /** Waits until the service has answered a text, which it has recorded last. */
  async #answer(text: string): Promise<void> {
    await eventually(() => this.#history.at(-1)?.content === `About ${text}`)
  }

  async #reload(): Promise<void> {
    await turnEventLoop()
    await this.view.destroy()
    await this.agent.destroy()
    await this.open()
    await turnEventLoop()
  }

  async #answered(sent: Promise<string>): Promise<void> {
    await sent
    const text = this.view.getSnapshot().messages.findLast(({ author }) => author === 'user')?.content
    const answers = text === 'several' ? 3 : 1
    await eventually(() => {
      const asked = this.view.getSnapshot().messages
      return asked.length - asked.findLastIndex(({ author }) => author === 'user') > answers
    })
  }

  get #record() {
    const record = this.#tab.emulator.world.sessions.get(this.#tab.session())
    if (!record) throw new Error('There is no session.')
    return record
  }

  get #history() {
    return this.#record.history.entries()
  }

  /** Folds what the service recorded into what a user interface must show. */
  expected(): Expected[] {
    const ratings = new Map(this.#record.feedback.map(({ answerMessageId, rating }) => [answerMessageId, rating]))
    const shown: Expected[] = []
    const record: Pick<ServerMessage, 'persona' | 'content' | 'messageData' | 'messageId'>[] = [...this.#history]
    const lost = this.#lost && { persona: 'customer', content: this.#lost.content }
    if (lost) record.splice(this.#lost?.index ?? 0, 0, lost)
    for (const entry of record.slice(this.#hidden)) {
      const { persona, content = '', messageData, messageId } = entry
      const options = (messageData?.['options'] as string[] | undefined) ?? []
      const isUser = persona === 'customer'
      const open = shown.findLast(({ canChoose }) => canChoose)
      if (open && (isUser || options.length)) {
        open.canChoose = false
        if (isUser && open.options.includes(content ?? '')) open.chosenOption = content ?? ''
      }
      shown.push({
        author: isUser ? 'user' : 'agent',
        content: content ?? '',
        options,
        chosenOption: undefined,
        canChoose: options.length > 0,
        rating: messageId ? ratings.get(messageId) : undefined,
        sources: ((messageData?.['sources'] as { title: string }[] | undefined) ?? []).map(({ title }) => title),
        maskedRanges: isUser && this.#isSecond ? maskedParts(content ?? '') : [],
        escalation: (messageData?.['escalationData'] as { entrypointUrl?: string } | undefined)?.entrypointUrl,
        fate: isUser ? (entry === lost ? 'unknown' : 'delivered') : undefined,
      })
    }
    // What is the first before an answer is shown without doubt.
    const at = shown.findIndex(({ fate }) => fate === 'unknown')
    const item = shown[at]
    const isAnswered = shown.slice(at).some(({ author }) => author === 'agent')
    if (item && shown[at - 1]?.author !== 'user' && isAnswered) item.fate = 'delivered'
    return [...this.#above, ...shown]
  }

  expectedUnread(): number {
    return this.#history.slice(this.#read).filter(({ persona }) => persona !== 'customer').length
  }

  async close(): Promise<void> {
    await this.view.destroy()
    await this.agent.destroy()
  }
}

/** Parts of the masked card text that are not as it was written. */
function maskedParts(content: string): Expected['maskedRanges'] {
  const [before, , after] = CARD
  const isCard = content.startsWith(before) && content.endsWith(after)
  return isCard ? [{ start: before.length, end: content.length - after.length }] : []
}

/** What a delivery state says once everything has settled; `stuck` for any other one. */
const FATES: Readonly<Record<string, Expected['fate']>> = {
  sent: 'delivered',
  acknowledged: 'delivered',
  unknown: 'unknown',
}

const shownBy = ({
  author,
  content,
  options,
  chosenOption,
  canChoose,
  rating,
  sources,
  maskedRanges,
  escalation,
  delivery,
}: ConversationMessage): Expected => ({
  author,
  content,
  options,
  chosenOption,
  canChoose,
  rating,
  sources: sources.map(({ title }) => title),
  maskedRanges,
  escalation: escalation?.url,
  fate: FATES[delivery ?? ''],
})

const isNewPage = (step: Step) => step.do === 'reload' || step.do === 'switch' || step.do.startsWith('crash')

describe('any sequence of steps', () => {
  it('[VIEW-02] leads to what the service has recorded, and keeps every message that did not change', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async steps => {
        const driver = new Driver()
        await driver.open()
        for (const next of steps) {
          const before = new Map(driver.view.getSnapshot().messages.map(item => [item.id, item]))
          await driver.play(next)
          await eventually(() => driver.view.getSnapshot().messages.length === driver.expected().length)
          const snapshot = driver.view.getSnapshot()
          const expected = driver.expected()
          const isEither = (index: number) => expected[index]?.fate === 'either'
          const shown = snapshot.messages.map(shownBy)
          expect(shown.map((each, index) => (isEither(index) ? { ...each, fate: 'either' } : each))).toEqual(expected)
          expect(snapshot).toMatchObject({ unread: driver.expectedUnread(), isWorking: false, error: undefined })
          expect(snapshot.escalation?.url).toBe(driver.expected().findLast(each => each.escalation)?.escalation)
          expect(driver.view.getSnapshot()).toBe(snapshot)
          for (const item of isNewPage(next) ? [] : snapshot.messages) {
            const old = before.get(item.id)
            if (old && JSON.stringify(old) === JSON.stringify(item)) expect(item).toBe(old)
          }
        }
        await driver.close()
      }),
      {
        numRuns: propertyRuns(50),
        endOnFailure: true,
        // All that the page has when the history comes is the message that waits.
        examples: [[[{ do: 'cut' }, { do: 'missed' }]]],
      },
    )
  })
})
