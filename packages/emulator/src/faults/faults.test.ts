import { paths } from '@aiagent/protocol'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ServiceCaller } from '../../test/chat-client.ts'
import type { EmulatorOptions, Fault } from '../index.ts'

const INFO = paths.deploymentInfo()

const start = (options: EmulatorOptions = {}) => {
  const clock = new ManualClock()
  const reply: EmulatorOptions['reply'] = ({ text }) => ({ content: `You said: ${text}` })
  const settings = { heartbeatBeforeReply: false, ...options.settings }
  const service = new ServiceCaller({ clock, reply, ...options, settings })
  /** What a call came to, filled in as soon as it is over. */
  const call = (path = INFO, init: RequestInit = {}) => {
    const outcome: { status?: number; text?: string; error?: unknown } = {}
    const work = async () => {
      const response = await service.emulator.fetch(service.emulator.origin + path, init)
      outcome.status = response.status
      outcome.text = await response.text()
    }
    work().catch((error: unknown) => {
      outcome.error = error
    })
    return outcome
  }
  return { clock, service, call, ...service.emulator }
}

describe('dropped connections', () => {
  it('close with a code and a reason, or break without one, of one session or of all', async () => {
    const { faults, service } = start()
    const ids = [await service.session(), await service.session(), await service.session()] as const
    const [first, second, third] = [await service.chat(ids[0]), await service.chat(ids[1]), await service.chat(ids[2])]
    expect(faults.add({ kind: 'drop', sessionId: ids[0], code: 4000, reason: 'Enough' }).reached).toBe(1)
    await turnEventLoop()
    expect([first, second, third].map(chat => chat.closing?.code)).toEqual([4000, undefined, undefined])
    expect(first.closing).toMatchObject({ reason: 'Enough', wasClean: true })
    expect(faults.add({ kind: 'drop' }).reached).toBe(2)
    await turnEventLoop()
    expect([second.closing, third.closing]).toMatchObject([{ code: 1006 }, { code: 1006, wasClean: false }])
    expect(faults.add({ kind: 'drop' }).reached).toBe(0)
  })
})

describe('a silent connection', () => {
  it('delivers nothing in either direction while it looks open, and everything in order when it is lifted', async () => {
    const { control, faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    expect(faults.add({ kind: 'silence', sessionId: id }).reached).toBe(1)
    await chat.say('one')
    await chat.say('two')
    control.pushFrame(id, '{"pushed":true}')
    await turnEventLoop()
    expect(chat.frames).toEqual([])
    expect(control.frames(id)).toEqual([])
    expect(chat.socket.readyState).toBe(1)
    expect(faults.lift()).toBe(1)
    await turnEventLoop()
    expect(control.frames(id)).toHaveLength(2)
    expect(chat.frames).toMatchObject([{ pushed: true }, { content: 'You said: one' }, { content: 'You said: two' }])
  })

  it('holds closes from both ends', async () => {
    const { control, faults, service } = start()
    const [byClient, byService] = [await service.session(), await service.session()]
    const [leaving, left] = [await service.chat(byClient), await service.chat(byService)]
    faults.add({ kind: 'silence' })
    leaving.socket.close(1000, 'Client disconnect')
    control.endSession(byService)
    await turnEventLoop()
    expect([leaving.closing, left.closing]).toEqual([undefined, undefined])
    expect(leaving.socket.readyState).toBe(2)
    faults.lift()
    await turnEventLoop()
    expect(leaving.closing).toMatchObject({ code: 1000, reason: 'Client disconnect', wasClean: true })
    expect(left.closing?.code).toBe(1000)
  })

  it('does not affect later connections, unless it includes them', async () => {
    const { faults, service } = start()
    const id = await service.session()
    await service.chat(id)
    faults.add({ kind: 'silence' })
    const second = await service.chat(id)
    await second.say('hello')
    expect(second.answers).toEqual(['You said: hello'])
    faults.lift()
    faults.add({ kind: 'silence', alsoLater: true })
    const third = await service.chat(id)
    await third.say('hello')
    expect(third.frames).toEqual([])
  })

  it('drops what arrives meanwhile if it is `lost`, and ends after its time', async () => {
    const { clock, control, faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    faults.add({ kind: 'silence', lost: true, forMs: 5000 })
    await chat.say('lost')
    await clock.advance(4999)
    expect(faults.inForce()).toMatchObject([{ fault: { kind: 'silence' }, hits: 1 }])
    await clock.advance(1)
    expect(faults.inForce()).toEqual([])
    await chat.say('heard')
    expect(chat.answers).toEqual(['You said: heard'])
    expect(control.frames(id)).toHaveLength(1)
  })

  it('ends with the emulator, which leaves no timer', async () => {
    const { clock, close, faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    faults.add({ kind: 'silence', forMs: 1000 })
    faults.schedule([{ afterMs: 500, fault: { kind: 'drop' } }])
    close()
    await turnEventLoop()
    expect(chat.closing?.code).toBe(1001)
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('a delay', () => {
  it('of a disconnect in progress ends with the emulator, which leaves no timer', async () => {
    const { clock, close, faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    faults.add({ kind: 'delay-frames', ms: 1000 })
    chat.socket.close(1000)
    // The service has heard of it; its answer is still on the way.
    await clock.advance(1500)
    expect(chat.closing).toBeUndefined()
    close()
    await turnEventLoop()
    expect(chat.closing?.code).toBe(1000)
    expect(clock.pendingTimers).toBe(0)
  })

  it('delays frames of one direction, in order', async () => {
    const { clock, faults, service, control } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    faults.add({ kind: 'delay-frames', direction: 'to-client', ms: 300 })
    await chat.say('one')
    await clock.advance(100)
    faults.lift()
    await chat.say('two')
    expect(control.frames(id)).toHaveLength(2)
    await clock.advance(199)
    expect(chat.answers).toEqual([])
    await clock.advance(1)
    expect(chat.answers).toEqual(['You said: one', 'You said: two'])
  })

  it('delays requests of a route, a number of times, including upgrades', async () => {
    const { call, clock, faults, service } = start()
    const id = await service.session()
    faults.add({ kind: 'delay-requests', route: `GET ${INFO}`, ms: 200, times: 1 })
    const slow = call()
    const other = call('/elsewhere')
    await clock.advance(199)
    expect([slow.status, other.status]).toEqual([undefined, 404])
    await clock.advance(1)
    expect(slow.status).toBe(200)
    const quick = call()
    await turnEventLoop()
    expect(quick.status).toBe(200)
    faults.add({ kind: 'delay-requests', route: '/', ms: 50 })
    const chat = await service.chat(id)
    await clock.advance(49)
    expect(chat.events).toEqual([])
    await clock.advance(1)
    expect(chat.events).toEqual(['open'])
  })

  it('does not keep a client waiting that aborts', async () => {
    const { call, clock, control, faults } = start()
    faults.add({ kind: 'delay-requests', ms: 200 })
    const controller = new AbortController()
    const outcome = call(INFO, { signal: controller.signal })
    await turnEventLoop()
    expect(control.requests()).toMatchObject([{ path: INFO, status: 0 }])
    controller.abort(new Error('Enough'))
    await turnEventLoop()
    expect(outcome.error).toMatchObject({ message: 'Enough' })
    expect(control.requests()).toMatchObject([{ status: 499 }])
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('a slow link', () => {
  it('transmits frames and bodies one after the other, at its speed', async () => {
    const { call, clock, control, faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    faults.add({ kind: 'slow-link', bytesPerSecond: 100 })
    const body = call()
    control.pushFrame(id, JSON.stringify({ text: 'x'.repeat(39) }))
    control.pushFrame(id, JSON.stringify({ text: 'y'.repeat(39) }))
    await clock.advance(499)
    expect(chat.frames).toHaveLength(0)
    await clock.advance(1)
    expect(chat.frames).toHaveLength(1)
    await clock.advance(500)
    expect(chat.frames).toHaveLength(2)
    expect(body.status).toBe(200)
    expect(body.text).toBeUndefined()
    await clock.advance(10_000)
    expect(JSON.parse(body.text ?? '')).toMatchObject({ tenantId: 'TEN0001' })
  })
})

describe('lost frames', () => {
  it('are lost, a number of times or with a chance', async () => {
    const { control, faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    faults.add({ kind: 'lose-frames', direction: 'to-service', times: 2 })
    for (const text of ['one', 'two', 'three']) await chat.say(text)
    expect(chat.answers).toEqual(['You said: three'])
    expect(faults.inForce()).toEqual([])
    faults.add({ kind: 'lose-frames', direction: 'to-service', chance: 0.5 })
    for (let count = 0; count < 100; count++) await chat.say('again')
    const arrived = control.frames(id).length - 1
    expect(arrived).toBeGreaterThan(20)
    expect(arrived).toBeLessThan(80)
  })

  it('are lost after some that pass', async () => {
    const { faults, service } = start()
    const chat = await service.chat(await service.session())
    faults.add({ kind: 'lose-frames', direction: 'to-service', after: 1, times: 1 })
    for (const text of ['one', 'two', 'three']) await chat.say(text)
    expect(chat.answers).toEqual(['You said: one', 'You said: three'])
  })
})

describe('upgrades', () => {
  it('are rejected with a status, a number of times', async () => {
    const { control, faults, service } = start()
    const id = await service.session()
    const refusal = faults.add({ kind: 'refuse-upgrade', status: 503, times: 2 }).id
    expect((await service.chat(id)).closing).toMatchObject({ code: 1006, httpStatus: 503 })
    expect((await service.chat(id)).closing).toMatchObject({ code: 1006, httpStatus: 503 })
    expect((await service.chat(id)).events).toEqual(['open'])
    expect(control.requests().map(({ status }) => status)).toEqual([200, 200, 503, 503, 101])
    expect(control.requests().map(({ fault }) => fault)).toEqual([undefined, undefined, refusal, refusal, undefined])
  })

  it('hang for one session, until the fault is lifted', async () => {
    const { faults, service } = start()
    const [id, other] = [await service.session(), await service.session()]
    faults.add({ kind: 'hang-upgrade', sessionId: id, times: 1 })
    const chat = await service.chat(id)
    expect(chat.events).toEqual([])
    expect((await service.chat(other)).events).toEqual(['open'])
    faults.lift({ kind: 'hang-upgrade' })
    await turnEventLoop()
    expect(chat.events).toEqual(['open'])
  })

  it('can be aborted by the client while they hang', async () => {
    const { faults, service } = start()
    const id = await service.session()
    faults.add({ kind: 'hang-upgrade' })
    const chat = await service.chat(id)
    chat.socket.close(1000)
    await turnEventLoop()
    expect(chat.closing).toMatchObject({ code: 1006 })
    faults.lift()
    await turnEventLoop()
    expect(chat.events).toEqual(['error', 'close'])
  })
})

describe('answers', () => {
  it('have the given status, body and headers on the given route, a number of times, and pages may read them', async () => {
    const { control, faults, fetch, origin } = start()
    faults.add({ kind: 'answer', route: INFO, status: 429, headers: { 'Retry-After': '3' }, times: 1 })
    faults.add({ kind: 'answer', route: INFO, status: 200, body: 'no JSON', times: 1 })
    faults.add({ kind: 'answer', route: '*', status: 502, body: { code: 'X', message: 'Y' }, times: 1 })
    const ask = () => fetch(origin + INFO, { headers: { origin: 'https://page.test' } })
    const first = await ask()
    expect(first.status).toBe(429)
    expect(first.headers.get('retry-after')).toBe('3')
    expect(first.headers.get('access-control-allow-origin')).toBe('https://page.test')
    expect(await first.json()).toEqual({ code: '429-000', message: 'Answered so on request.' })
    expect(await (await ask()).text()).toBe('no JSON')
    const third = await ask()
    expect([third.status, await third.json()]).toEqual([502, { code: 'X', message: 'Y' }])
    expect((await ask()).status).toBe(200)
    expect(control.requests().map(({ status }) => status)).toEqual([429, 200, 502, 200])
  })

  it('are recorded with the fault that gave, limited or broke them', async () => {
    const { control, faults, fetch, origin } = start()
    const ask = () => fetch(origin + INFO).then(answer => answer.text())
    const ids: (string | undefined)[] = []
    for (const fault of [{ kind: 'answer', status: 503 }, { kind: 'rate-limit' }, { kind: 'truncate-body' }] as const) {
      ids.push(faults.add({ ...fault, times: 1 }).id)
      await ask().catch(() => {})
    }
    await ask()
    expect(control.requests().map(({ fault }) => fault)).toEqual([...ids, undefined])
  })

  it('[REL-43] limit the rate: 429 with Retry-After and the code 429-001, which a page may read', async () => {
    const { faults, fetch, origin } = start()
    faults.add({ kind: 'rate-limit', route: 'GET */deploymentInfo', retryAfterSeconds: 7, times: 1 })
    const ask = () => fetch(origin + INFO, { headers: { origin: 'https://page.test' } })
    const first = await ask()
    expect(first.status).toBe(429)
    expect(first.headers.get('retry-after')).toBe('7')
    expect(first.headers.get('access-control-expose-headers')).toBe('Retry-After')
    expect(await first.json()).toMatchObject({ code: '429-001' })
    expect((await ask()).status).toBe(200)
    faults.add({ kind: 'rate-limit', only: 'messages' })
    expect((await ask()).status).toBe(200)
  })

  it('may have no body', async () => {
    const { faults, fetch, origin } = start()
    faults.add({ kind: 'answer', status: 204 })
    expect((await fetch(origin + INFO)).status).toBe(204)
  })

  it('do not arrive while a route hangs, and arrive when it is lifted', async () => {
    const { call, faults } = start()
    const { id } = faults.add({ kind: 'hang-request', route: `GET ${INFO}` })
    const outcome = call()
    await turnEventLoop()
    expect(outcome).toEqual({})
    expect(faults.lift({ id })).toBe(1)
    await turnEventLoop()
    expect(outcome.status).toBe(200)
  })

  it('break off in the middle of their body', async () => {
    const { faults, fetch, origin } = start()
    faults.add({ kind: 'truncate-body', afterBytes: 5 })
    const response = await fetch(origin + INFO)
    expect(response.status).toBe(200)
    const reader = response.body?.getReader()
    expect((await reader?.read())?.value).toHaveLength(5)
    await expect(reader?.read()).rejects.toThrow(TypeError)
  })

  it('stall in the middle of their body until the fault is lifted, or the client aborts', async () => {
    const { call, faults } = start()
    faults.add({ kind: 'stall-body', times: 2 })
    const controller = new AbortController()
    const [patient, impatient] = [call(), call(INFO, { signal: controller.signal })]
    await turnEventLoop()
    expect([patient, impatient]).toEqual([{ status: 200 }, { status: 200 }])
    controller.abort(new Error('Enough'))
    await turnEventLoop()
    expect(impatient.error).toMatchObject({ message: 'Enough' })
    faults.lift()
    await turnEventLoop()
    expect(JSON.parse(patient.text ?? '')).toMatchObject({ tenantId: 'TEN0001' })
  })
})

describe('tokens and sessions', () => {
  it('expire', async () => {
    const { control, faults, service } = start()
    const token = control.issueToken()
    faults.add({ kind: 'expire-tokens', secondsLeft: 100 })
    expect((await service.postSession('account', token)).status).toBe(401)
  })

  it('end, and are removed, and their frames stay readable', async () => {
    const { control, faults, service } = start()
    const [ended, forgotten] = [await service.session(), await service.session()]
    const chats = [await service.chat(ended), await service.chat(forgotten)]
    await chats[1]?.say('remember')
    faults.add({ kind: 'end-session', sessionId: ended })
    expect(faults.add({ kind: 'forget-session' }).reached).toBe(2)
    await turnEventLoop()
    expect(chats.map(chat => chat.closing?.code)).toEqual([1000, 4404])
    expect((await service.chat(forgotten)).closing).toMatchObject({ httpStatus: 404 })
    expect(control.frames(forgotten)).toMatchObject([{ message: { content: 'remember' } }])
  })

  it('receive any frame, and the last one again with its id', async () => {
    const { faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    expect(faults.add({ kind: 'replay' }).reached).toBe(0)
    await chat.say('hello')
    expect(faults.add({ kind: 'replay', sessionId: id, times: 2 }).reached).toBe(1)
    faults.add({ kind: 'push', frame: { persona: 'agent', role: 'odd' } })
    faults.add({ kind: 'push', frame: '{"raw":1}' })
    faults.add({ kind: 'replay' })
    await turnEventLoop()
    expect(chat.frames.slice(0, 3).map(frame => frame.messageId)).toEqual(['m-1', 'm-1', 'm-1'])
    expect(chat.frames.slice(3)).toEqual([{ persona: 'agent', role: 'odd' }, { raw: 1 }, { raw: 1 }])
  })
})

describe('a restart', () => {
  it('closes the connections and keeps the sessions', async () => {
    const { faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    await chat.say('before')
    expect(faults.add({ kind: 'restart' }).reached).toBe(1)
    await turnEventLoop()
    expect(chat.closing).toMatchObject({ code: 1001 })
    const again = await service.chat(id)
    await again.say('after')
    expect(again.roles[0]).toBe('chat history')
    expect(again.frames.at(-1)).toMatchObject({ messageId: 'm-2', content: 'You said: after' })
  })

  it('drops the sessions without its memory, and breaks connections like a crash', async () => {
    const { faults, service } = start()
    const id = await service.session()
    const chat = await service.chat(id)
    faults.add({ kind: 'restart', memory: false, code: 1006 })
    await turnEventLoop()
    expect(chat.closing).toMatchObject({ code: 1006, wasClean: false })
    expect((await service.chat(id)).closing).toMatchObject({ httpStatus: 404 })
  })

  it('answers nothing while it is down, breaks requests in flight, and returns', async () => {
    const { call, clock, faults, service } = start()
    const id = await service.session()
    faults.add({ kind: 'hang-upgrade', times: 1 })
    faults.add({ kind: 'hang-request', times: 1 })
    const hanging = call()
    const connecting = await service.chat(id)
    faults.add({ kind: 'restart', downMs: 1000 })
    await turnEventLoop()
    expect(hanging.error).toBeInstanceOf(TypeError)
    expect(connecting.closing).toMatchObject({ code: 1006 })
    expect(connecting.closing).not.toHaveProperty('httpStatus')
    const down = call()
    expect((await service.chat(id)).closing).toMatchObject({ code: 1006 })
    expect(down.error).toMatchObject({ message: 'fetch failed' })
    await clock.advance(999)
    const stillDown = call()
    await turnEventLoop()
    expect(stillDown.error).toBeInstanceOf(TypeError)
    await clock.advance(1)
    expect((await service.chat(id)).events).toEqual(['open'])
  })
})

describe('a schedule', () => {
  const schedule = [
    { afterMs: 2000, fault: { kind: 'lift', of: 'answer' } },
    { afterMs: 1000, fault: { kind: 'answer', status: 503 } },
  ] as const

  it('applies its faults at their times', async () => {
    const { clock, service } = start({ faults: schedule })
    const status = async () => (await service.get(INFO)).status
    expect(await status()).toBe(200)
    await clock.advance(1000)
    expect(await status()).toBe(503)
    await clock.advance(1000)
    expect(await status()).toBe(200)
  })

  it('can be cancelled', async () => {
    const { clock, faults } = start()
    faults.schedule(schedule)()
    await clock.advance(5000)
    expect(faults.inForce()).toEqual([])
    expect(clock.pendingTimers).toBe(0)
  })

  it('is rejected as a whole when an entry is invalid', () => {
    const { clock, faults } = start()
    const wrong = { afterMs: 1, fault: { kind: 'answer', status: 7 } } as const
    expect(() => faults.schedule([...schedule, wrong])).toThrow(/entry 3: the fault .*"status" must be 200 to 599/)
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('the seed', () => {
  const faulty: Fault[] = [
    { kind: 'delay-frames', ms: 10, jitterMs: 500 },
    { kind: 'lose-frames', chance: 0.3 },
    { kind: 'delay-requests', ms: 0, jitterMs: 100 },
  ]
  /** When each answer came. */
  const play = async (seed: number, faults = faulty) => {
    const { clock, service, ...emulator } = start({ seed })
    const id = await service.session()
    for (const fault of faults) emulator.faults.add(fault)
    const opening = service.chat(id)
    await clock.advance(100)
    const chat = await opening
    const times: [number, unknown][] = []
    chat.socket.addEventListener('message', event => times.push([clock.now(), event.data]))
    for (let count = 0; count < 20; count++) {
      await chat.say(`message ${count}`)
      await clock.advance(50)
    }
    await clock.advance(1000)
    return { id, times }
  }

  it('gives the same result for the same steps', async () => {
    const once = await play(7)
    expect(once.times.length).toBeGreaterThan(3)
    expect(await play(7)).toEqual(once)
    expect((await play(8)).times).not.toEqual(once.times)
  })

  it('creates the same ids regardless of faults', async () => {
    expect((await play(7)).id).toBe((await play(7, [])).id)
  })
})
