import { paths } from '@aiagent/protocol'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ServiceCaller } from '../../test/chat-client.ts'

const start = () => {
  const service = new ServiceCaller({
    clock: new ManualClock(),
    reply: ({ text }) => ({ content: `You said: ${text}` }),
    settings: { heartbeatBeforeReply: false },
  })
  const control = async (method: string, path: string, body?: unknown) => {
    const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
    const init = { method, ...(text !== undefined && { body: text }) }
    const response = await service.emulator.fetch(`${service.emulator.origin}/_control${path}`, init)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const { faults, fetch, origin, world } = service.emulator
  return { service, control, faults, fetch, origin, world }
}

describe('the controls over HTTP', () => {
  it('activate faults, list and lift them', async () => {
    const { control, service } = start()
    const added = await control('POST', '/faults', [
      { kind: 'answer', status: 503 },
      { kind: 'delay-frames', ms: 5 },
    ])
    expect(added).toEqual({
      status: 200,
      body: {
        applied: [
          { kind: 'answer', id: 'fault-1', reached: 0 },
          { kind: 'delay-frames', id: 'fault-2', reached: 0 },
        ],
      },
    })
    expect((await service.get(paths.deploymentInfo())).status).toBe(503)
    expect((await control('GET', '/faults')).body).toEqual({
      faults: [
        { id: 'fault-1', fault: { kind: 'answer', status: 503 }, hits: 1 },
        { id: 'fault-2', fault: { kind: 'delay-frames', ms: 5 }, hits: 0 },
      ],
    })
    expect((await control('DELETE', '/faults/fault-2')).body).toEqual({ lifted: 1 })
    expect((await control('DELETE', '/faults/fault-2')).status).toBe(404)
    expect((await control('DELETE', '/faults?kind=silence')).body).toEqual({ lifted: 0 })
    expect((await control('DELETE', '/faults')).body).toEqual({ lifted: 1 })
    expect((await service.get(paths.deploymentInfo())).status).toBe(200)
  })

  it('reject invalid input, and then do nothing', async () => {
    const { control, faults } = start()
    const mistaken = await control('POST', '/faults', [{ kind: 'answer', status: 503 }, { kind: 'answr' }])
    expect(mistaken).toMatchObject({ status: 400, body: { message: expect.stringContaining('not "answr"') } })
    expect(faults.inForce()).toEqual([])
    expect(await control('POST', '/faults', 'x')).toMatchObject({
      status: 400,
      body: { message: 'The body is not JSON.' },
    })
    expect((await control('POST', '/restart', '[]')).status).toBe(400)
    expect((await control('PATCH', '/faults')).status).toBe(404)
  })

  it('list the requests and the frames of sessions, but not the calls of the controls', async () => {
    const { control, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    await chat.say('hello')
    await control('GET', '/faults')
    const { requests } = (await control('GET', '/requests')).body as { requests: { path: string }[] }
    expect(requests.map(({ path }) => path)).toEqual(['/oauth/TEN0001/anonymous/token', paths.session('help'), '/'])
    expect((await control('GET', '/sessions')).body).toMatchObject({
      sessions: [{ id, agentId: 'help', connected: true, ended: false }],
    })
    expect((await control('GET', `/sessions/${id}/frames`)).body).toMatchObject({
      frames: [{ message: { content: 'hello' } }],
    })
    expect((await control('GET', '/sessions/nope/frames')).status).toBe(404)
  })

  it('act on a session', async () => {
    const { control, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    const act = (name: string, body?: unknown) => control('POST', `/sessions/${id}/${name}`, body)
    await act('push', { frame: { messageId: 'm-9', persona: 'agent', role: 'x' } })
    await act('replay')
    await turnEventLoop()
    expect(chat.frames.map(({ messageId }) => messageId)).toEqual(['m-9', 'm-9'])
    await act('silence')
    await chat.say('unheard')
    expect(chat.answers).toEqual([undefined, undefined])
    await control('DELETE', '/faults')
    expect((await act('drop', { code: 1011, reason: 'Oops' })).body).toMatchObject({ kind: 'drop', reached: 1 })
    await turnEventLoop()
    expect(chat.closing).toMatchObject({ code: 1011, reason: 'Oops' })
    await act('end')
    expect((await service.chat(id)).closing).toMatchObject({ httpStatus: 410 })
    await act('forget')
    expect((await service.chat(id)).closing).toMatchObject({ httpStatus: 404 })
    expect((await act('drop')).status).toBe(404)
  })

  it('expire tokens and restart', async () => {
    const { control, service, world } = start()
    const token = service.emulator.control.issueToken()
    await service.session()
    await control('POST', '/tokens/expire')
    expect((await service.postSession('account', token)).status).toBe(401)
    await control('POST', '/restart', { memory: false })
    expect(world.sessions.size).toBe(0)
  })

  it('issue a token for a user', async () => {
    const { control, service } = start()
    const { status, body } = await control('POST', '/tokens', { subject: 'customer' })
    expect(status).toBe(200)
    expect((await service.postSession('account', String(body['token']))).status).toBe(200)
    expect((await control('POST', '/tokens', { subject: 'nobody' })).status).toBe(400)
    const refused = await control('POST', '/tokens', { subject: 'customer', lifeSeconds: 60 })
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('"lifeSeconds"') } })
  })

  it('return and change the settings', async () => {
    const { control, service } = start()
    const changed = await control('PATCH', '/settings', { tokenLifeSeconds: 60, silentRenewal: 'fails' })
    expect(changed).toMatchObject({
      status: 200,
      body: { tokenLifeSeconds: 60, silentRenewal: 'fails', postSession: true },
    })
    expect((await control('GET', '/settings')).body).toEqual(changed.body)
    expect(service.emulator.settings.tokenLifeSeconds).toBe(60)
  })

  it.each([
    [{ tokenLife: 60 }, 'There is no setting "tokenLife"'],
    [{ silentRenewal: 'never' }, 'The setting "silentRenewal" does not take "never". Expected is ("works" |'],
    [{ checkScopes: true, tokenLifeSeconds: -1 }, 'The setting "tokenLifeSeconds" does not take -1. Expected is >=0'],
  ])('reject the change %j of the settings', async (change, message) => {
    const { control, service } = start()
    expect(await control('PATCH', '/settings', change)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message) },
    })
    expect(service.emulator.settings.checkScopes).toBe(false)
  })

  it('are not affected by faults', async () => {
    const { control } = start()
    await control('POST', '/faults', { kind: 'answer', status: 500 })
    await control('POST', '/faults', { kind: 'hang-request' })
    expect((await control('DELETE', '/faults')).status).toBe(200)
  })

  it('may be called by pages of this machine', async () => {
    const { fetch, origin } = start()
    const preflight = await fetch(`${origin}/_control/faults`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:5173', 'access-control-request-method': 'DELETE' },
    })
    expect(preflight.headers.get('access-control-allow-methods')).toContain('DELETE')
  })

  it('[PLAY-10] play the colleague at the desk', async () => {
    const { control, fetch, origin } = start()
    const handle = 'h'.repeat(32)
    const customer = async (method: string, path = '', body?: object) => {
      const init = { method, ...(body && { body: JSON.stringify(body) }) }
      const response = await fetch(`${origin}/live-desk/${handle}${path}`, init)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const empty = await control('GET', '/desk')
    expect(empty.body).toEqual({ state: '', chats: [] })
    const waiting = control('GET', '/desk?seen=')
    await customer('PUT')
    expect((await waiting).body).toMatchObject({ chats: [{ id: 'chat-1', state: 'waiting', messages: [] }] })

    await control('POST', '/desk/chat-1/typing', { isTyping: false })
    expect((await control('GET', '/desk')).body).toMatchObject({ chats: [{ state: 'waiting' }] })
    await control('POST', '/desk/chat-1/typing', { name: 'Support', isTyping: true })
    const typing = await customer('GET')
    expect(typing.body).toMatchObject({ name: 'Support', isTyping: true, hasEnded: false, messages: [] })
    const next = customer('GET', `?seen=${encodeURIComponent(String(typing.body['state']))}`)
    await control('POST', '/desk/chat-1/say', { text: '<b>Good day</b>' })
    expect((await next).body).toMatchObject({
      isTyping: false,
      messages: [{ id: 'colleague-1', from: 'colleague', text: '<b>Good day</b>' }],
    })
    expect((await customer('GET', '?after=1')).body['messages']).toEqual([])
    await customer('POST', '/messages', { id: 'one', text: 'hello' })
    await customer('POST', '/messages', { id: 'one', text: 'hello' })
    const { chats } = (await control('GET', '/desk')).body as { chats: { messages: { text: string }[] }[] }
    expect(chats[0]?.messages.map(({ text }) => text)).toEqual(['<b>Good day</b>', 'hello'])

    expect((await customer('POST', '/messages', { text: 7 })).status).toBe(400)
    expect((await control('POST', '/desk/chat-1/say', { txt: 'x' })).status).toBe(400)
    expect((await control('POST', '/desk/chat-7/say', { text: 'x' })).status).toBe(404)
    await control('POST', '/desk/chat-1/leave')
    expect((await customer('GET')).body).toMatchObject({ hasEnded: true })
    expect((await customer('POST', '/messages', { id: 'two', text: 'hello?' })).status).toBe(410)
    expect((await control('POST', '/desk/chat-1/say', { text: 'x' })).status).toBe(410)
    expect((await control('GET', '/settings')).body).toMatchObject({ desk: 'open' })
  })
})
