import { paths } from '@aiagent/protocol'
import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ChatCaller } from '../../test/chat-client.ts'
import { DeskCaller } from '../../test/desk-caller.ts'
import type { EmulatorSettings } from '../index.ts'

const start = (settings: Partial<EmulatorSettings>, seed = 1) => new DeskCaller({ settings, seed })

/** When the answer to each of so many requests came, one asked after the other. */
async function times(desk: DeskCaller, count: number): Promise<number[]> {
  const found: number[] = []
  for (let asked = 0; asked < count; asked++) {
    const before = desk.clock.now()
    let isAnswered = false
    const answer = desk.get(paths.deploymentInfo(), {}).then(() => (isAnswered = true))
    await turnEventLoop()
    while (!isAnswered) await desk.clock.advance(1)
    await answer
    found.push(desk.clock.now() - before)
  }
  return found
}

describe('delayed responses', () => {
  it('arrive after the configured time, and at once after a reset', async () => {
    const desk = start({ answerDelayMs: 50 })
    expect(await times(desk, 2)).toEqual([50, 50])
    desk.emulator.settings.answerDelayMs = 0
    expect(await times(desk, 1)).toEqual([0])
  })

  it('vary randomly within the jitter, and the same seed gives the same delays', async () => {
    const first = await times(start({ answerDelayMs: 20, answerJitterMs: 30 }), 8)
    expect(await times(start({ answerDelayMs: 20, answerJitterMs: 30 }), 8)).toEqual(first)
    expect(await times(start({ answerDelayMs: 20, answerJitterMs: 30 }, 2), 8)).not.toEqual(first)
    expect(Math.min(...first)).toBeGreaterThanOrEqual(20)
    expect(Math.max(...first)).toBeLessThanOrEqual(51)
    expect(new Set(first).size).toBeGreaterThan(3)
  })

  it('do not change the ids', async () => {
    const prompt = start({})
    const slow = start({ answerJitterMs: 30 })
    const token = slow.service.anonymousToken()
    await turnEventLoop()
    await slow.clock.advance(31)
    const session = slow.service.postSession('help', await token)
    await turnEventLoop()
    await slow.clock.advance(31)
    expect(await (await session).json()).toEqual({ sessionId: await prompt.service.session('help') })
  })

  it('include upgrades of chat connections', async () => {
    const desk = start({})
    const id = await desk.service.session('help')
    desk.emulator.settings.answerDelayMs = 50
    const chat = new ChatCaller(desk.emulator, id)
    await turnEventLoop()
    await desk.clock.advance(49)
    expect(chat.events).toEqual([])
    await desk.clock.advance(1)
    await turnEventLoop()
    expect(chat.events).toEqual(['open'])
  })

  it('are delayed in parallel', async () => {
    const desk = start({ answerDelayMs: 50 })
    const both = Promise.all([desk.get(paths.myPortals()), desk.get(paths.userDetails())])
    await turnEventLoop()
    await desk.clock.advance(50)
    expect((await both).map(({ status }) => status)).toEqual([200, 200])
    expect(desk.clock.now()).toBe(start({}).clock.now() + 50)
  })

  it('leave no timer when the service shuts down', async () => {
    const desk = start({ answerDelayMs: 50 })
    const answer = desk.get(paths.deploymentInfo(), {})
    await turnEventLoop()
    desk.emulator.close()
    await expect(answer).rejects.toThrow('fetch failed')
    expect(desk.clock.pendingTimers).toBe(0)
  })
})
