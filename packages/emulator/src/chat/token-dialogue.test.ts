import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ServiceCaller } from '../../test/chat-client.ts'
import type { EmulatorOptions } from '../index.ts'

const echo: EmulatorOptions = { reply: ({ text }) => ({ content: `You said: ${text}` }) }

const start = (options: EmulatorOptions = {}) => {
  const clock = new ManualClock()
  return { clock, service: new ServiceCaller({ clock, ...echo, ...options }) }
}

describe('the token dialogue', () => {
  it('holds messages until a valid token arrives, and requests one each time', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session('account'))
    await chat.say('one')
    await chat.present('nonsense')
    await chat.say('two')
    expect(chat.roles).toEqual(['expired_token', 'expired_token'])
    expect(chat.codes).toEqual(['401-013', '401-013'])
    await chat.present(service.emulator.control.issueToken())
    expect(chat.answers).toEqual(['You said: one', 'You said: two'])
  })

  it('does not accept an anonymous token for an agent that requires a signed-in user', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session('account'))
    await chat.present(await service.anonymousToken())
    await chat.say('one')
    expect(chat.codes).toEqual(['401-013'])
  })

  it('does not let a message overtake the token before it', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session('account'))
    const token = service.emulator.control.issueToken()
    chat.socket.send(JSON.stringify({ persona: 'metadata', role: 'token', messageData: { token } }))
    await chat.say('one')
    expect(chat.codes).toEqual([])
    expect(chat.answers).toEqual(['You said: one'])
  })

  it('requests once when less than 290 seconds are left, and again for the next token', async () => {
    const { clock, service } = start()
    const chat = await service.chat(await service.session('account'))
    await chat.present(service.emulator.control.issueToken({ lifeSeconds: 600 }))
    await clock.advance(310_000)
    expect(chat.codes).toEqual([])
    await clock.advance(1)
    expect(chat.codes).toEqual(['401-012'])
    expect(chat.roles).toEqual(['stale_token'])
    await chat.present(service.emulator.control.issueToken({ lifeSeconds: 600 }))
    await clock.advance(600_000)
    expect(chat.codes).toEqual(['401-012', '401-012'])
  })

  it('does not repeat the request if every token is short-lived', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session('account'))
    for (let round = 0; round < 3; round++)
      await chat.present(service.emulator.control.issueToken({ lifeSeconds: 100 }))
    expect(chat.codes).toEqual(['401-012'])
  })

  it('detects that its tokens were expired', async () => {
    const { service } = start()
    const { control } = service.emulator
    const chat = await service.chat(await service.session('account'))
    await chat.present(control.issueToken())
    control.expireTokens(100)
    await turnEventLoop()
    expect(chat.codes).toEqual(['401-012'])
    control.expireTokens()
    await chat.say('one')
    expect(chat.codes).toEqual(['401-012', '401-013'])
  })

  it('sends no history before the token is valid', async () => {
    const { service } = start()
    const id = await service.session('account')
    const token = service.emulator.control.issueToken()
    const first = await service.chat(id)
    await first.present(token)
    await first.say('one')
    const second = await service.chat(id)
    expect(second.frames).toEqual([])
    await second.present(token)
    expect(second.roles).toEqual(['chat history'])
  })
})
