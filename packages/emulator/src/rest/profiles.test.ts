import { parseUserProfileList, paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { DeskCaller } from '../../test/desk-caller.ts'

describe('the profiles of a portal', () => {
  it('contain which one was used last', async () => {
    const desk = new DeskCaller({}, 'desk-supervisor')
    const { status, body } = await desk.get(`${paths.userProfiles(1001)}?$lang=en-us`)
    expect(status).toBe(200)
    expect(parseUserProfileList(body)).toEqual(body)
    expect(body).toEqual({
      profile: [
        { id: 10, name: 'Member', isLastUsedInPortal: false },
        { id: 11, name: 'Premium member', isLastUsedInPortal: false },
        { id: 12, name: 'Business', isLastUsedInPortal: true },
      ],
    })
  })

  it('have no content if there are none, or an empty list, as configured', async () => {
    const desk = new DeskCaller()
    expect(await desk.get(paths.userProfiles(1003))).toEqual({ status: 204, body: undefined })
    desk.emulator.settings.emptyListStatus = 200
    expect(await desk.get(paths.userProfiles(1003))).toEqual({ status: 200, body: { profile: [] } })
  })

  it.each([
    ['does not exist', 4711, 404],
    ['is for other users', 1004, 403],
  ])('are not returned for a portal that %s', async (_case, portalId, status) => {
    expect((await new DeskCaller().get(paths.userProfiles(portalId))).status).toBe(status)
  })
})

describe('selecting a profile', () => {
  it('is answered without content, and makes it the last used one', async () => {
    const desk = new DeskCaller()
    expect(await desk.put(`${paths.selectUserProfile(1001, 11)}?$lang=en-us`)).toEqual({
      status: 204,
      body: undefined,
    })
    expect(await desk.profiles(1001)).toEqual([
      [10, false],
      [11, true],
      [12, false],
    ])
    await desk.put(paths.selectUserProfile(1001, 10))
    expect(await desk.profiles(1001)).toEqual([
      [10, true],
      [11, false],
      [12, false],
    ])
  })

  it('affects one user and one portal', async () => {
    const desk = new DeskCaller()
    await desk.put(paths.selectUserProfile(1001, 11))
    await desk.put(paths.selectUserProfile(1101, 31))
    expect(await desk.profiles(1101)).toEqual([
      [30, false],
      [31, true],
    ])
    expect((await desk.become('desk-supervisor').profiles(1001)).at(-1)).toEqual([12, true])
    expect((await desk.become('somebody-else').profiles(1001)).map(([, isLast]) => isLast)).not.toContain(true)
  })

  it('is not stored for an anonymous token, which many users share', async () => {
    const desk = await new DeskCaller().becomeAnybody()
    expect((await desk.put(paths.selectUserProfile(1001, 11))).status).toBe(204)
    expect((await desk.profiles(1001)).map(([, isLast]) => isLast)).toEqual([false, false, false])
  })

  it('is rejected for a profile of another portal, and changes nothing', async () => {
    const desk = new DeskCaller()
    expect(await desk.put(paths.selectUserProfile(1001, 20))).toEqual({
      status: 404,
      body: { code: '404-005', message: 'The portal "1001" has no profile "20".' },
    })
    expect((await desk.profiles(1001)).map(([, isLast]) => isLast)).toEqual([false, false, false])
  })

  it('needs PUT and a token', async () => {
    const desk = new DeskCaller()
    expect((await desk.get(paths.selectUserProfile(1001, 11))).status).toBe(405)
    expect((await desk.put(paths.selectUserProfile(1001, 11), {})).status).toBe(401)
  })

  it('does not affect another emulator of the same world', async () => {
    await new DeskCaller().put(paths.selectUserProfile(1001, 11))
    expect((await new DeskCaller().profiles(1001)).map(([, isLast]) => isLast)).toEqual([false, false, false])
  })
})
