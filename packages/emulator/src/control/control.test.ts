import { paths } from '@aiagent/protocol'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ChatCaller, ServiceCaller } from '../../test/chat-client.ts'
import type { EmulatorOptions } from '../index.ts'

const start = (options: EmulatorOptions = {}) => {
  const service = new ServiceCaller({ clock: new ManualClock(), ...options })
  return { service, ...service.emulator }
}

describe('chat connections under control', () => {
  it('are closed with a code or broken, and can reconnect', async () => {
    const { service, control } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    control.dropSockets(1011)
    await turnEventLoop()
    expect(chat.closing).toMatchObject({ code: 1011, wasClean: true })
    const again = await service.chat(id)
    control.dropSockets()
    await turnEventLoop()
    expect(again.closing).toMatchObject({ code: 1006, wasClean: false })
    expect((await service.chat(id)).events).toEqual(['open'])
  })

  it('receive frames and any other text', async () => {
    const { service, control } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    control.pushFrame(id, { persona: 'agent', role: 'customer support agent', content: 'Good day.' })
    control.pushFrame(id, '{"odd":true}')
    await turnEventLoop()
    expect(chat.frames).toEqual([
      { persona: 'agent', role: 'customer support agent', content: 'Good day.' },
      { odd: true },
    ])
    chat.socket.close(1000)
    await turnEventLoop()
    expect(() => control.pushFrame(id, 'x')).toThrow(`Nobody is connected to the session ${id}.`)
  })

  it('close with 1000 when the session ends, and are rejected with 410 afterwards', async () => {
    const { service, control } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    expect(control.endSession(id)).toBe(true)
    await turnEventLoop()
    expect(chat.closing?.code).toBe(1000)
    expect((await service.chat(id)).closing).toMatchObject({ code: 1006, httpStatus: 410 })
    expect(control.endSession('nope')).toBe(false)
  })

  it('close with 4404 when the session is removed, and are rejected with 404 afterwards', async () => {
    const { service, control } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    expect(control.forgetSession(id)).toBe(true)
    await turnEventLoop()
    expect(chat.closing).toMatchObject({ code: 4404, wasClean: true })
    expect((await service.chat(id)).closing).toMatchObject({ code: 1006, httpStatus: 404 })
    expect(control.forgetSession(id)).toBe(false)
  })

  it('report unknown sessions to browsers, if they are accepted and closed', async () => {
    const { service, control } = start({ settings: { unknownSession: 'close-4404' } })
    const ended = await service.session()
    control.endSession(ended)
    for (const [id, code] of [
      ['nope', '404-001'],
      [ended, '409-001'],
    ] as const) {
      const chat = await service.chat(id)
      expect(chat.events).toEqual(['open', 'message', 'close'])
      expect(chat.codes).toEqual([code])
      expect(chat.closing?.code).toBe(4404)
    }
  })

  it('are rejected without a valid session id, and for other hosts', async () => {
    const { service, WebSocket } = start()
    expect((await service.chat('undefined')).closing).toMatchObject({ code: 1006, httpStatus: 400 })
    const elsewhere = new WebSocket('ws://elsewhere.test/?sessionId=1')
    let closing: unknown
    elsewhere.onclose = event => {
      closing = event
    }
    await turnEventLoop()
    expect(closing).toMatchObject({ code: 1006 })
    expect(elsewhere.httpStatus).toBeUndefined()
  })
})

describe('the recording', () => {
  it('contains every request with its outcome, including upgrades', async () => {
    const { service, control } = start()
    const token = await service.anonymousToken()
    await service.postSession('help', token, { context: { a: 1 } })
    const id = [...service.emulator.world.sessions.keys()][0] ?? ''
    const chat = new ChatCaller(service.emulator, id, '&externalCallId=call-7')
    await turnEventLoop()
    expect(chat.events).toEqual(['open'])
    const [asked, posted, opened] = control.requests()
    expect(asked).toMatchObject({ method: 'POST', path: '/oauth/TEN0001/anonymous/token', status: 200 })
    expect(asked?.body).toContain('grant_type=client_credentials')
    expect(posted).toMatchObject({
      method: 'POST',
      path: paths.session('help'),
      headers: { authorization: `Bearer ${token}` },
      body: '{"context":{"a":1}}',
      status: 200,
    })
    expect(opened).toMatchObject({ method: 'GET', query: { sessionId: id, externalCallId: 'call-7' }, status: 101 })
    expect(service.emulator.world.sessions.get(id)?.externalCallId).toBe('call-7')
  })

  it('contains every frame of a session, readable or not', async () => {
    const { service, control } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    await chat.say('one')
    await chat.send('nonsense')
    expect(control.frames(id)).toMatchObject([
      { data: '{"persona":"customer","role":"human","content":"one"}', message: { content: 'one' } },
      { data: 'nonsense' },
    ])
    expect(control.frames('nope')).toEqual([])
  })

  it('drops the oldest beyond its limit', async () => {
    const { service, control, settings } = start()
    settings.recordingLimit = 3
    for (let call = 0; call < 10; call++) await service.get(`/call/${call}`)
    expect(control.requests().map(request => request.path)).toEqual(['/call/7', '/call/8', '/call/9'])
  })
})
