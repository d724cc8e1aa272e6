import { paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { DeskCaller } from '../../test/desk-caller.ts'

describe('an agent that requires a signed-in user', () => {
  it('answers the user of a token, once the chat has the token', async () => {
    const desk = new DeskCaller()
    expect((await desk.get(paths.agentDetails('desk'))).body).toMatchObject({
      isAuthenticated: true,
      userType: 'agent',
      agentType: 'contact-center',
    })
    const id = await desk.service.session('desk')
    const chat = await desk.service.chat(id)
    await chat.say('Where is the parcel?')
    expect(chat.answers).toEqual([])
    await chat.present(desk.tokenOf('desk-agent'))
    expect(chat.answers).toHaveLength(1)
  })

  it('rejects anonymous users', async () => {
    const desk = new DeskCaller()
    expect((await desk.service.postSession('desk', await desk.service.anonymousToken())).status).toBe(403)
  })

  it('accepts anonymous users if configured', async () => {
    const desk = new DeskCaller({ settings: { withoutSignIn: ['desk'] } })
    const token = await desk.service.anonymousToken()
    expect((await desk.get(paths.agentDetails('desk'))).body).toMatchObject({ isAuthenticated: false })
    expect((await desk.get(paths.agentDetails('account'))).body).toMatchObject({ isAuthenticated: true })
    const session = await desk.service.postSession('desk', token)
    const { sessionId } = (await session.json()) as { sessionId: string }
    const chat = await desk.service.chat(sessionId)
    await chat.say('Where is the parcel?')
    expect(chat.answers).toHaveLength(1)
  })
})
