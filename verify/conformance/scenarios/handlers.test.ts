import { BaseMessageHandler, type HandlerResult, type Message } from '@aiagent/client'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'

/** Handles messages of one role, after a promise. */
class RoleHandler extends BaseMessageHandler {
  override readonly resultType = 'own'
  readonly taken: (string | undefined)[] = []
  readonly #role: string
  readonly #ready: () => Promise<void>

  constructor(role: string, ready: () => Promise<void> = () => Promise.resolve()) {
    super()
    this.#role = role
    this.#ready = ready
  }

  canHandle({ role }: Message): boolean {
    return role === this.#role
  }

  async handle(message: Message): Promise<HandlerResult> {
    await this.#ready()
    this.taken.push(message.content)
    const { persona, role, content, messageId, timestamp = 0, sessionId, agentId } = message
    const place = { messageId, timestamp, sessionId, agentId, message: { persona, role, content, raw: {} } }
    return { type: 'own', ...place, from: { name: 'a', isAi: false }, to: { name: 'b', isAi: false } }
  }
}

const answer = { persona: 'agent', role: 'customer support agent' } as const

verifies(
  'OWN-25',
  'a handler handles unclaimed messages, and as the first one also those of other handlers',
  async service => {
    const agent = await service.connectedAgent({ transcriptConfig: { includeMessageTypes: ['agent_message'] } })
    const journal = new Journal(agent)
    const processor = agent.getMessageProcessor()
    const last = new RoleHandler('news')
    const first = new RoleHandler('customer support agent')
    processor.addHandler(last)
    service.control.pushFrame(service.session, { persona: 'press', role: 'news', content: 'one' })
    service.control.pushFrame(service.session, { ...answer, content: 'two' })
    await eventually(() => journal.of('message').length === 2)
    expect([last.taken, journal.answers, agent.getTranscriptSize()]).toEqual([['one'], ['two'], 1])

    processor.addHandler(first, 0)
    service.control.pushFrame(service.session, { ...answer, content: 'three' })
    await eventually(() => journal.of('message').length === 3)
    expect([first.taken, journal.answers, agent.getTranscriptSize()]).toEqual([['three'], ['two'], 1])

    processor.reset()
    service.control.pushFrame(service.session, { persona: 'press', role: 'news', content: 'four' })
    service.control.pushFrame(service.session, { ...answer, content: 'five' })
    await eventually(() => journal.of('message').length === 5)
    expect([last.taken, first.taken, journal.answers]).toEqual([['one'], ['three'], ['two', 'five']])
  },
)

verifies('OWN-25', 'a slow handler delays later messages, and a failing one does not affect them', async service => {
  const agent = await service.connectedAgent()
  const journal = new Journal(agent)
  let go = () => {}
  let fails = false
  const waits = () =>
    new Promise<void>((resolve, reject) => {
      go = () => (fails ? reject(new Error('No.')) : resolve())
    })
  agent.getMessageProcessor().addHandler(new RoleHandler('news', waits), 0)
  for (const failing of [false, true]) {
    fails = failing
    const before = journal.of('message').length
    const entries = agent.getTranscriptSize()
    service.control.pushFrame(service.session, { persona: 'press', role: 'news', content: 'slow' })
    service.control.pushFrame(service.session, { ...answer, content: 'behind' })
    await eventually(() => agent.getTranscriptSize() > entries)
    expect(journal.of('message')).toHaveLength(before)
    go()
    await eventually(() => journal.of('message').length === before + 2)
    const told = journal.of('message').slice(before)
    expect(told.map(({ data }) => (data as Message).content)).toEqual(['slow', 'behind'])
  }
  expect(journal.answers).toEqual(['behind', 'behind'])
  expect(journal.of('error')).toEqual([])
})
