import { type Capability, paths } from '@aiagent/protocol'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ChatCaller, ServiceCaller } from '../../test/chat-client.ts'
import { createMemoryStore, type EmulatorOptions, type StateStore } from '../index.ts'

const capabilities: readonly Capability[] = ['receipts', 'resume']

/** A service that keeps its state in the store. Starting the next one without closing it is what a kill does. */
const start = (store: StateStore, options: EmulatorOptions = {}) => {
  const clock = new ManualClock()
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const { settings, ...others } = options
  const service = new ServiceCaller({ clock, reply, store, settings: { capabilities, ...settings }, ...others })
  const open = async (id: string, query = '') => {
    const caller = new ChatCaller(service.emulator, id, query)
    await turnEventLoop()
    return caller
  }
  return { clock, service, open, control: service.emulator.control, world: service.emulator.world }
}
const user = (content: string) => ({ persona: 'customer', role: 'human', content, messageId: content })
const roles = (caller: ChatCaller) => caller.frames.map(({ role, messageData }) => [role, messageData])

describe('[REL-76] a service that starts again with its store', () => {
  it('has the sessions as they were', async () => {
    const store = createMemoryStore()
    const first = start(store)
    const id = await first.service.session('help', { plan: 'gold', count: { value: 'x', type: 'integer' } })
    const chat = await first.open(id, '&externalCallId=call-7')
    await chat.send(user('one'))
    await chat.send({ persona: 'system', role: 'context', messageData: { context: { city: 'Ulm' } } })
    const feedback = { rating: 'up', answerMessageId: 'm-1' }
    await chat.send({ persona: 'system', role: 'feedback', messageData: { feedback } })
    await chat.send({ persona: 'system', role: 'escalation', messageData: { escalationEvent: { step: 1 } } })
    const ended = await first.service.session()
    first.control.endSession(ended)
    const forgotten = await first.service.session()
    first.control.forgetSession(forgotten)

    const second = start(store)
    const plain = (world: typeof first.world) =>
      [...world.sessions.values()].map(({ history, accepted, acceptedIds, received: _, sent, ...rest }) => ({
        ...rest,
        history: history.entries(),
        accepted: accepted.entries(),
        knowsOne: acceptedIds.has('one'),
        replay: sent.after(0),
      }))
    expect(plain(second.world)).toEqual(plain(first.world))
    expect(second.world.sessions.get(id)).toMatchObject({
      context: { plan: 'gold', city: 'Ulm' },
      feedback: [feedback],
      externalCallId: 'call-7',
      contextIssues: [],
    })
    expect((await second.open(ended)).closing?.httpStatus).toBe(410)
    expect((await second.open(forgotten)).closing?.httpStatus).toBe(404)
  })

  it('knows accepted ids, replays what was missed, and counts on', async () => {
    const store = createMemoryStore()
    const first = start(store)
    const id = await first.service.session()
    const chat = await first.open(id)
    await chat.send(user('one'))
    await chat.send(user('two'))
    const second = start(store)
    const again = await second.open(id, '&lastSeq=1')
    await again.send(user('two'))
    await again.send(user('three'))
    expect(roles(again)).toEqual([
      ['customer support agent', {}],
      ['resumed', { complete: true }],
      ['receipt', { messageId: 'two', duplicate: true }],
      ['receipt', { messageId: 'three', duplicate: false }],
      ['heartbeat', undefined],
      ['customer support agent', {}],
    ])
    expect(again.frames.flatMap(({ seq, messageId }) => (seq ? [[seq, messageId]] : []))).toEqual([
      [2, 'm-2'],
      [3, 'm-3'],
    ])
  })

  it('answers once what was accepted and not answered', async () => {
    const store = createMemoryStore()
    const first = start(store, { settings: { replyDelayMs: 1000 } })
    const id = await first.service.session()
    const chat = await first.open(id)
    for (const text of ['one', 'two', 'three']) await chat.send(user(text))
    await first.clock.advance(1000)
    expect(chat.answers).toEqual(['You said: one'])
    const second = start(store)
    const again = await second.open(id, '&lastSeq=0')
    expect(again.answers).toEqual(['You said: one', 'You said: two', 'You said: three'])
    const third = start(store)
    expect((await third.open(id, '&lastSeq=0')).answers).toEqual(again.answers)
  })

  it('takes the tokens that it issued, and refuses those that it expired', async () => {
    const store = createMemoryStore()
    const first = start(store, { seed: 1 })
    const expired = first.control.issueToken()
    first.control.expireTokens()
    const good = first.control.issueToken()
    // Another seed: the secret is kept, not made again.
    const second = start(store, { seed: 2 })
    expect((await second.service.postSession('help', expired)).status).toBe(401)
    expect((await second.service.postSession('help', good)).status).toBe(200)
    second.control.expireTokens()
    const third = start(store, { seed: 2 })
    expect((await third.service.postSession('help', good)).status).toBe(401)
    expect((await third.service.postSession('help', third.control.issueToken())).status).toBe(200)
  })

  it('never gives an id to a second session, and gives the same ids as without a store at first', async () => {
    const store = createMemoryStore()
    const ids: string[] = []
    for (let nth = 0; nth < 3; nth++) {
      const { service } = start(store)
      ids.push(await service.session(), await service.session())
    }
    expect(new Set(ids).size).toBe(6)
    const without = new ServiceCaller()
    expect(await without.session()).toBe(ids[0])
    // A state that is lost must not make ids come back either.
    store.writeDocument('service', 'damaged')
    expect(ids).not.toContain(await start(store).service.session())
  })

  it('remembers the profile that a user selected', async () => {
    const store = createMemoryStore()
    const first = start(store)
    const token = first.control.issueToken({ subject: 'desk-agent' })
    const select = paths.selectUserProfile('1001', '11')
    const response = await first.service.emulator.fetch(first.service.emulator.origin + select, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(response.ok).toBe(true)
    expect(start(store).world.lastUsedProfiles.has('desk-agent', '1001', '11')).toBe(true)
  })
})

describe('[REL-77] damaged state', () => {
  it.each([
    ['a first entry without a session', (store: StateStore, id: string) => store.startJournal(id, { version: 2 })],
    ['an entry of an unknown kind', (store: StateStore, id: string) => store.addEntry(id, [{ type: 'flown' }])],
    ['an entry that is not a list', (store: StateStore, id: string) => store.addEntry(id, 7)],
  ])('costs one session: %s', async (_, damage) => {
    const store = createMemoryStore()
    const first = start(store)
    const [bad, good] = [await first.service.session(), await first.service.session()]
    damage(store, bad)
    expect([...start(store).world.sessions.keys()]).toEqual([good])
  })

  it('costs the sessions of an agent that is gone', async () => {
    const store = createMemoryStore()
    const first = start(store)
    await first.service.session('account')
    const good = await first.service.session('help')
    const agents = [...first.world.agents.values()].filter(({ details }) => details.agentId !== 'account')
    expect([...start(store, { world: { agents } }).world.sessions.keys()]).toEqual([good])
  })
})
