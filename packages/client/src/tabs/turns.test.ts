import { describe, expect, it } from 'vitest'
import { CAPABILITIES, linesOf, setUpTabs } from '../../test/set-up-tabs.ts'
import type { AiAgent } from '../ai-agent.ts'

it('[REL-67] the next user asks in a tab that has waited for the question of a tab that the browser has stopped', async () => {
  const { clock, browser, emulator, connected, passUntil } = setUpTabs({ settings: { heartbeatBeforeReply: false } })
  const stopped = await connected()
  const { agent } = await connected()
  emulator.faults.add({ kind: 'lose-frames', direction: 'to-client' })
  stopped.agent.ask('without an answer').catch(() => {})
  await clock.advance(1_000)
  const waiting = agent.ask('waits').catch(error => error.code)
  await clock.advance(1_000)
  stopped.tab.freeze()
  emulator.faults.lift()
  await passUntil(() => browser.locks.leader !== stopped.tab, 'another leader')
  await agent.logout()
  expect(await waiting).toBeDefined()
  await agent.initialize()
  await agent.connect()
  let answer: string | undefined
  void agent.ask('of the next user').then(({ content }) => {
    answer = content
  })
  await passUntil(() => answer !== undefined, 'the answer')
  expect(answer).toBe('You said: of the next user')
  expect(linesOf({ agent })).toEqual(['sent of the next user', 'received You said: of the next user'])
})

it('[SEC-61] a question that waits for its turn is asked when its tab gets a user', async () => {
  const { clock, emulator, connected, passUntil } = setUpTabs({ settings: { heartbeatBeforeReply: false } })
  const other = await connected()
  const { agent } = await connected()
  emulator.faults.add({ kind: 'lose-frames', direction: 'to-client' })
  other.agent.ask('without an answer').catch(() => {})
  await clock.advance(1_000)
  let answer: string | undefined
  void agent.ask('waits').then(({ content }) => {
    answer = content
  })
  await clock.advance(1_000)
  other.tab.freeze()
  emulator.faults.lift()
  const updated = agent.updateAccessToken(emulator.control.issueToken({ subject: 'customer' }))
  await clock.advance(2_000)
  await updated
  await passUntil(() => answer !== undefined, 'the answer')
  expect(answer).toBe('You said: waits')
})

it.each([
  ['receipts, resume and fencing', CAPABILITIES],
  ['the plain wire', []],
])(
  '[REL-65] a tab that receives an answer late takes it for no answer to its own question, over %s',
  async (_name, capabilities) => {
    const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }
    const { clock, connected, passUntil } = setUpTabs({ settings })
    const first = await connected()
    const late = await connected()
    const receive = late.tab.receive.bind(late.tab)
    const held: (() => void)[] = []
    late.tab.receive = work => void held.push(work)
    const answers: (string | undefined)[] = []
    const ask = ({ agent }: typeof first, text: string) =>
      void agent.ask(text).then(({ content }) => answers.push(content))
    ask(first, 'one')
    ask(late, 'two')
    await passUntil(() => answers.length === 1, 'the first answer')
    // The turn has passed on, and the first answer has not arrived in this tab.
    await clock.advance(500)
    late.tab.receive = receive
    for (const work of held) receive(work)
    await passUntil(() => answers.length === 2, 'the second answer')
    expect(answers).toEqual(['You said: one', 'You said: two'])
  },
)

it('[REL-65] questions of several tabs are answered one after the other, also where one is given up or asked before its tab is connected', async () => {
  const settings = { heartbeatBeforeReply: false, replyDelayMs: 500 }
  const { clock, made, connected, passUntil, emulator } = setUpTabs({ settings })
  const [one, two, three] = [await connected(), await connected(), await connected()]
  const late = made()
  const answers: string[] = []
  const ask = ({ agent }: { agent: typeof one.agent }, text: string, signal?: AbortSignal) =>
    void agent.ask(text, signal && { signal }).then(
      ({ content }) => answers.push(String(content)),
      (error: { code?: string }) => answers.push(`${text} ${error.code}`),
    )
  ask(late, 'before its tab is connected')
  ask(one, 'first')
  await clock.advance(100)
  ask(two, 'second')
  ask(two, 'third')
  const control = new AbortController()
  ask(three, 'given up', control.signal)
  await clock.advance(100)
  control.abort()
  await clock.advance(100)
  expect(answers).toEqual(['given up ABORTED'])
  const [session] = emulator.world.sessions.values()
  const texts = () => session?.received.entries().flatMap(({ message }) => message?.content ?? [])
  expect(texts()).toEqual(['first'])
  await passUntil(() => answers.length === 4, 'the answers')
  expect(answers.slice(1).sort()).toEqual(['first', 'second', 'third'].map(text => `You said: ${text}`))
  expect(answers[1]).toBe('You said: first')
  expect(answers.indexOf('You said: second')).toBeLessThan(answers.indexOf('You said: third'))
  await late.agent.initialize()
  await late.agent.connect()
  ask(three, 'last')
  await passUntil(() => answers.length === 6, 'the answers to the late tab and to the one that has given up')
  expect(answers.slice(4).sort()).toEqual(['You said: before its tab is connected', 'You said: last'])
})

describe('questions that were asked before their tabs are connected', () => {
  const settings = { heartbeatBeforeReply: false, replyDelayMs: 500 }
  const connect = async ({ agent }: { agent: AiAgent }) => {
    await agent.initialize()
    await agent.connect()
  }

  it.each([
    ['at the same time', true],
    ['one after the other', false],
  ])('[REL-65] have an answer of their own where the tabs connect %s', async (_name, isAtOnce) => {
    const { made, passUntil } = setUpTabs({ settings })
    const tabs = [made(), made(), made()]
    const answers: string[] = []
    for (const [index, { agent }] of tabs.entries())
      void agent.ask(`question ${index}`).then(({ content }) => answers.push(`${index} ${content}`))
    if (isAtOnce) await Promise.all(tabs.map(connect))
    else for (const tab of tabs) await connect(tab)
    await passUntil(() => answers.length === 3, 'the answers')
    expect(answers.sort()).toEqual([0, 1, 2].map(index => `${index} You said: question ${index}`))
    for (const { agent } of tabs)
      expect(agent.getTranscript({ direction: 'sent' }).map(({ message }) => message.content)).toHaveLength(3)
  })

  it('[REL-65] keep their place before what was sent after them, unless another tab has asked', async () => {
    const { made, emulator, passUntil, clock } = setUpTabs({ settings })
    const [one, two] = [made(), made()]
    const answers: unknown[] = []
    const caller = new AbortController()
    for (const [name, { agent }] of Object.entries({ one, two })) {
      const options = name === 'two' ? { signal: caller.signal } : {}
      const answered = agent.ask(`question of ${name}`, options)
      answered.then(
        ({ content }) => answers.push(content),
        (error: { code?: string }) => answers.push(error.code),
      )
      agent.send(`word of ${name}`)
    }
    await connect(one)
    await connect(two)
    await clock.advance(100)
    const [session] = emulator.world.sessions.values()
    const texts = session?.received.entries().flatMap(({ message }) => message?.content ?? [])
    expect(texts).toEqual(['question of one', 'word of one', 'word of two'])
    caller.abort()
    await passUntil(() => answers.length === 2, 'the answer')
    expect(answers).toEqual(['ABORTED', 'You said: question of one'])
  })
})
