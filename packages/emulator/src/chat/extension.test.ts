import { type Capability, encodePing, type ServerMessage } from '@aiagent/protocol'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ChatCaller, ServiceCaller } from '../../test/chat-client.ts'
import type { EmulatorSettings } from '../index.ts'

const start = (capabilities: readonly Capability[], settings: Partial<EmulatorSettings> = {}) => {
  const clock = new ManualClock()
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const service = new ServiceCaller({ clock, reply, settings: { capabilities, ...settings } })
  const open = async (id: string, query = '') => {
    const caller = new ChatCaller(service.emulator, id, query)
    await turnEventLoop()
    return caller
  }
  return { clock, service, open, control: service.emulator.control }
}

const user = (content: string, messageId?: string) => ({
  persona: 'customer',
  role: 'human',
  content,
  ...(messageId !== undefined && { messageId }),
})
const contextFrame = (context: Record<string, unknown>, messageId: string) => ({
  persona: 'system',
  role: 'context',
  messageData: { context },
  messageId,
})
/** Ids of the receipts so far; those for duplicates have a plus in front. */
const receipts = (caller: ChatCaller) =>
  caller.frames
    .filter(({ role }) => role === 'receipt')
    .map(({ messageData }) => {
      const { messageId, duplicate } = messageData as { messageId: string; duplicate: boolean }
      return duplicate ? `+${messageId}` : messageId
    })
const numbers = (caller: ChatCaller) => caller.frames.flatMap(({ seq }) => seq ?? [])
const resumed = (caller: ChatCaller) =>
  caller.frames.filter(({ role }) => role === 'resumed').map(({ messageData }) => messageData)

describe('[REL-71] without capabilities', () => {
  const goodbye = { persona: 'system', role: 'graceful disconnect' }

  /** All that a service sends in a conversation with two connections. `extra` is what a client of the extension adds. */
  async function everyFrame(extra: boolean): Promise<unknown[]> {
    const { service, open } = start([])
    const id = await service.session('help', { count: { value: 'x', type: 'integer' } })
    const withId = (frame: object, messageId: string) => JSON.stringify(extra ? { ...frame, messageId } : frame)
    const first = await open(id)
    await first.send(withId(user('one'), 'a'))
    if (extra) await first.send(encodePing('p'))
    await first.send('nonsense')
    first.socket.close(3000)
    await turnEventLoop()
    const second = await open(id, extra ? '&lastSeq=0' : '')
    await second.send(withId(user('two'), 'b'))
    await second.send(withId(goodbye, 'c'))
    const info = await (await service.get('/system/deploymentInfo')).json()
    expect(second.closing?.code).toBe(1000)
    return [info, first.frames, second.frames]
  }

  it('sends exactly the frames of the plain wire', async () => {
    const agent = { persona: 'agent', role: 'customer support agent', messageData: {}, timestamp: expect.any(Number) }
    const heartbeat = { persona: 'system', role: 'heartbeat' }
    const [info, first, second] = await everyFrame(false)
    expect(info).not.toHaveProperty('capabilities')
    expect(first).toStrictEqual([
      expect.objectContaining({ persona: 'system', role: 'context validation' }),
      heartbeat,
      { ...agent, messageId: 'm-1', content: 'You said: one' },
      { persona: 'metadata', role: 'error', content: 'The frame is not JSON.', messageData: { error_code: '400-001' } },
    ])
    expect(second).toStrictEqual([
      {
        persona: 'system',
        role: 'chat history',
        timestamp: expect.any(Number),
        messageData: {
          chat_history: [
            { persona: 'customer', role: 'human', content: 'one', timestamp: expect.any(Number) },
            { ...agent, messageId: 'm-1', content: 'You said: one' },
          ],
        },
      },
      heartbeat,
      { ...agent, messageId: 'm-2', content: 'You said: two' },
    ])
    expect(JSON.stringify([first, second])).not.toMatch(/"(seq|duplicate|complete)"/)
  })

  it('ignores the additions of a client with the extension', async () => {
    expect(await everyFrame(true)).toEqual(await everyFrame(false))
  })
})

describe('[REL-72] receipts', () => {
  it('are announced, and acknowledge each frame before the answer to it', async () => {
    const { service, open } = start(['receipts'])
    expect(await (await service.get('/system/deploymentInfo')).json()).toMatchObject({ capabilities: ['receipts'] })
    const chat = await open(await service.session())
    await chat.send(user('one', 'a'))
    await chat.send(contextFrame({ plan: 'gold' }, 'b'))
    await chat.send(user('two', 'c'))
    expect(receipts(chat)).toEqual(['a', 'b', 'c'])
    expect(chat.roles.slice(0, 3)).toEqual(['receipt', 'heartbeat', 'customer support agent'])
    expect(numbers(chat)).toEqual([])
  })

  it('mark a repeated frame, which is not processed again, also on another connection', async () => {
    const { service, open, control } = start(['receipts'])
    const id = await service.session()
    const first = await open(id)
    await first.send(user('one', 'a'))
    await first.send(user('one', 'a'))
    const second = await open(id)
    await second.send(user('one', 'a'))
    await second.send(contextFrame({ plan: 'gold' }, 'b'))
    await second.send(contextFrame({ plan: 'silver' }, 'b'))
    expect(receipts(first)).toEqual(['a', '+a'])
    expect(receipts(second)).toEqual(['+a', 'b', '+b'])
    expect(first.answers).toEqual(['You said: one'])
    expect(second.answers).toEqual([])
    expect(service.emulator.world.sessions.get(id)?.context).toEqual({ plan: 'gold' })
    expect(control.record(id)?.accepted.map(({ message, duplicate }) => [message.messageId, duplicate])).toEqual([
      ['a', false],
      ['a', true],
      ['a', true],
      ['b', false],
      ['b', true],
    ])
    expect(control.record(id)?.history).toMatchObject([
      { messageId: 'a', content: 'one' },
      { messageId: 'm-1', content: 'You said: one' },
    ])
  })

  it('separate the ids of different sessions', async () => {
    const { service, open } = start(['receipts'])
    const first = await open(await service.session())
    const second = await open(await service.session())
    await first.send(user('one', 'a'))
    await second.send(user('one', 'a'))
    expect([...receipts(first), ...receipts(second)]).toEqual(['a', 'a'])
  })

  it('follow the token that a message had to wait for, once for each arrival', async () => {
    const { service, open, control } = start(['receipts'])
    const id = await service.session('account')
    const first = await open(id)
    await first.send(user('one', 'a'))
    expect(first.roles).toEqual(['expired_token'])
    const second = await open(id)
    await second.send(user('one', 'a'))
    await second.present(control.issueToken())
    expect(receipts(second)).toEqual(['a', '+a'])
    expect(second.answers).toEqual(['You said: one'])
  })

  it('are not sent for a rejected message, which the error names and which may be sent again', async () => {
    const { clock, service, open } = start(['receipts'], { rateLimit: true })
    const chat = await open(await service.session())
    for (let nth = 0; nth < 21; nth++) await chat.send(user('hi', `id-${nth}`))
    expect(chat.frames.at(-1)).toMatchObject({ messageData: { error_code: '429-001', messageId: 'id-20' } })
    await chat.send(user('hi', 'id-3'))
    expect(receipts(chat).at(-1)).toBe('+id-3')
    await clock.advance(10_000)
    await chat.send(user('hi', 'id-20'))
    expect(receipts(chat).at(-1)).toBe('id-20')
    await chat.send(user('x'.repeat(130 * 1024), 'large'))
    expect(chat.frames.at(-1)).toMatchObject({ messageData: { error_code: '413-001', messageId: 'large' } })
  })

  it('forget the oldest ids beyond a limit', async () => {
    const { service, open } = start(['receipts'], { seenIdLimit: 2 })
    const chat = await open(await service.session())
    for (const id of ['a', 'b', 'c', 'b', 'a']) await chat.send(user('hi', id))
    expect(receipts(chat)).toEqual(['a', 'b', 'c', '+b', 'a'])
  })

  it('precede the close that a graceful disconnect asks for', async () => {
    const { service, open } = start(['receipts'])
    const chat = await open(await service.session())
    await chat.send({ persona: 'system', role: 'graceful disconnect', messageId: 'bye' })
    expect(receipts(chat)).toEqual(['bye'])
    expect(chat.closing?.code).toBe(1000)
  })

  it('are lost on request, although the frame was accepted', async () => {
    const { service, open, control } = start(['receipts'])
    const id = await service.session()
    const chat = await open(id)
    service.emulator.faults.add({ kind: 'lose-receipts', sessionId: id, after: 1, times: 1 })
    for (const each of ['a', 'b', 'c']) await chat.send(user(each, each))
    expect(receipts(chat)).toEqual(['a', 'c'])
    expect(control.record(id)?.accepted.map(({ message }) => message.messageId)).toEqual(['a', 'b', 'c'])
    await chat.send(user('b', 'b'))
    expect(receipts(chat)).toEqual(['a', 'c', '+b'])
  })
})

describe('[REL-73] resume', () => {
  it('numbers the frames of the conversation and no others', async () => {
    const { service, open } = start(['resume'])
    const chat = await open(await service.session('help', { count: { value: 'x', type: 'integer' } }))
    await chat.send(user('one', 'a'))
    await chat.send(encodePing('p'))
    expect(chat.frames.map(({ role, seq }) => [role, seq])).toEqual([
      ['context validation', 1],
      ['heartbeat', undefined],
      ['customer support agent', 2],
      ['pong', undefined],
    ])
  })

  it('sends missed frames once, unchanged, and then reports that it is complete', async () => {
    const { service, open, control } = start(['resume'])
    const id = await service.session()
    const first = await open(id)
    await first.send(user('one'))
    control.dropSockets()
    await turnEventLoop()
    control.say(id, { content: 'Are you there?' })
    control.say(id, { content: 'Hello?' })
    const second = await open(id, '&lastSeq=1')
    expect(second.frames.map(({ content, seq, role }) => [content ?? role, seq])).toEqual([
      ['Are you there?', 2],
      ['Hello?', 3],
      ['resumed', undefined],
    ])
    expect(resumed(second)).toEqual([{ complete: true }])
    expect(second.frames[0]).toEqual(control.record(id)?.history[2])
    await second.send(user('two'))
    expect(numbers(second)).toEqual([2, 3, 4])
    const third = await open(id, '&lastSeq=4')
    expect(third.roles).toEqual(['resumed'])
    const fourth = await open(id, '&lastSeq=0')
    expect(numbers(fourth)).toEqual([1, 2, 3, 4])
  })

  it('sends the history if frames are missing, with numbers to continue from', async () => {
    const { service, open } = start(['resume'], { resumeBufferLimit: 2 })
    const id = await service.session()
    const first = await open(id)
    for (const text of ['one', 'two', 'three']) await first.send(user(text))
    expect(resumed(await open(id, '&lastSeq=1'))).toEqual([{ complete: true }])
    const late = await open(id, '&lastSeq=0')
    expect(late.roles).toEqual(['resumed', 'chat history'])
    expect(resumed(late)).toEqual([{ complete: false }])
    const elements = late.frames[1]?.messageData?.chat_history as ServerMessage[]
    expect(elements.flatMap(({ seq }) => seq ?? [])).toEqual([1, 2, 3])
    expect(elements).toHaveLength(6)
    const ahead = await open(id, '&lastSeq=99')
    expect(resumed(ahead)).toEqual([{ complete: false }])
  })

  it.each(['', '&lastSeq=', '&lastSeq=-1', '&lastSeq=x'])(
    'sends the history as before with the query "%s"',
    async query => {
      const { service, open } = start(['resume'])
      const id = await service.session()
      await (await open(id)).send(user('one'))
      expect((await open(id, query)).roles).toEqual(['chat history'])
    },
  )

  it('replays after the token, and no new frame overtakes the replay', async () => {
    const { service, open, control } = start(['resume'])
    const id = await service.session('account')
    const first = await open(id)
    await first.present(control.issueToken())
    await first.send(user('one'))
    control.dropSockets()
    await turnEventLoop()
    control.say(id, { content: 'missed' })
    const second = await open(id, '&lastSeq=1')
    control.say(id, { content: 'new' })
    await turnEventLoop()
    expect(second.frames).toEqual([])
    await second.present(control.issueToken())
    expect(second.frames.map(({ content, role }) => content ?? role)).toEqual(['missed', 'new', 'resumed'])
    await second.present(control.issueToken())
    expect(second.frames).toHaveLength(3)
  })

  it('numbers a failed answer', async () => {
    const service = new ServiceCaller({
      settings: { capabilities: ['resume'] },
      reply: () => {
        throw new Error('no idea')
      },
    })
    const id = await service.session()
    const chat = await service.chat(id)
    await chat.say('one')
    expect(chat.frames.at(-1)).toMatchObject({ role: 'error', seq: 1 })
  })
})

describe('[REL-74] ping', () => {
  it.each([['receipts'], ['resume']] as const)(
    'is answered with its id where %s is announced, also before a token',
    async capability => {
      const { service, open, control } = start([capability])
      const id = await service.session('account')
      const chat = await open(id)
      await chat.send(encodePing('p-1'))
      expect(chat.frames).toEqual([{ persona: 'metadata', role: 'pong', messageData: { id: 'p-1' } }])
      expect(control.record(id)).toEqual({ accepted: [], history: [], unanswered: 0, lastSeq: 0 })
    },
  )

  it('is not answered while a fault prevents it', async () => {
    const { service, open } = start(['resume'])
    const chat = await open(await service.session())
    const { id } = service.emulator.faults.add({ kind: 'ignore-pings' })
    await chat.send(encodePing('p-1'))
    service.emulator.faults.lift({ id })
    await chat.send(encodePing('p-2'))
    expect(chat.frames.map(({ messageData }) => messageData)).toEqual([{ id: 'p-2' }])
  })

  it('does not keep an idle session alive', async () => {
    const { clock, service, open } = start(['resume'], { idleTimeoutMs: 1000 })
    const chat = await open(await service.session())
    await clock.advance(900)
    await chat.send(encodePing('p-1'))
    await clock.advance(100)
    expect(chat.closing?.code).toBe(1000)
  })
})

describe('the sources of recovery for a client', () => {
  it('[REL-75] can be switched: the history frame, and the transcript call that works, is missing or hangs', async () => {
    const { service, open } = start([])
    const { faults, settings } = service.emulator
    const id = await service.session()
    await (await open(id)).send(user('one'))
    settings.sendHistory = false
    expect((await open(id)).frames).toEqual([])
    settings.sendHistory = true
    expect((await open(id)).roles).toEqual(['chat history'])

    const path = `/core/aiservices/v4/aiagent/details/department/1000/agent/help/conversations/sessions/${id}`
    const call = async () => service.get(path, { authorization: `Bearer ${await service.anonymousToken()}` })
    expect(((await (await call()).json()) as { messages: unknown[] }).messages).toMatchObject([
      { persona: 'customer', role: 'human', content: 'one', timestamp: expect.any(Number) },
      { persona: 'agent', messageId: 'm-1', timestamp: expect.any(Number) },
    ])
    const route = 'GET */conversations/sessions/*'
    faults.add({ kind: 'answer', route, status: 404, times: 1 })
    expect((await call()).status).toBe(404)
    const hanging = faults.add({ kind: 'hang-request', route })
    let answered = false
    const response = call().then(() => {
      answered = true
    })
    await turnEventLoop()
    expect(answered).toBe(false)
    faults.lift(hanging)
    await response
    expect(answered).toBe(true)
  })

  it('[REL-75] include agent messages sent while no client is connected, also over the controls', async () => {
    const { service, open, control } = start([])
    const id = await service.session()
    const post = (path: string, body?: unknown) =>
      service.emulator.fetch(`${service.emulator.origin}/_control/sessions/${path}`, {
        method: body ? 'POST' : 'GET',
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    expect(control.say(id, { content: 'first' })).toBe('m-1')
    expect(await (await post(`${id}/say`, { content: 'second' })).json()).toMatchObject({ kind: 'say', reached: 1 })
    const chat = await open(id)
    expect(chat.frames[0]?.messageData?.chat_history).toMatchObject([{ content: 'first' }, { content: 'second' }])
    expect(await (await post(`${id}/record`)).json()).toEqual(JSON.parse(JSON.stringify(control.record(id))))
    expect((await post('none/record')).status).toBe(404)
    control.endSession(id)
    expect(() => control.say(id, { content: 'third' })).toThrow('no open session')
  })

  it('[REL-75] capabilities are set over the controls, and only known ones', async () => {
    const { service } = start([])
    const patch = (capabilities: string[]) =>
      service.emulator.fetch(`${service.emulator.origin}/_control/settings`, {
        method: 'PATCH',
        body: JSON.stringify({ capabilities }),
      })
    expect((await patch(['receipts', 'resume'])).status).toBe(200)
    expect(service.emulator.settings.capabilities).toEqual(['receipts', 'resume'])
    expect((await patch(['receits'])).status).toBe(400)
  })
})
