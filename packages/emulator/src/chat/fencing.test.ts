import { CLOSE_CODE, readFencedReason } from '@aiagent/protocol'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { ChatCaller, ServiceCaller } from '../../test/chat-client.ts'
import type { EmulatorSettings } from '../index.ts'

async function start(capabilities: EmulatorSettings['capabilities']) {
  const service = new ServiceCaller({ clock: new ManualClock(), settings: { capabilities } })
  const id = await service.session()
  const open = async (fence?: number) => {
    const caller = new ChatCaller(service.emulator, id, fence === undefined ? '' : `&fence=${fence}`)
    await turnEventLoop()
    return caller
  }
  const accepted = () =>
    service.emulator.control
      .record(id)
      ?.accepted.map(({ message }) => message.content)
      .filter(Boolean)
  return { open, accepted }
}

describe('fencing', () => {
  it('[REL-132] refuses a connection with a lower number, and accepts none of its frames', async () => {
    const { open, accepted } = await start(['fencing'])
    const holder = await open(7)
    await holder.say('one')
    const late = await open(6)
    expect(late.closing?.code).toBe(CLOSE_CODE.FENCED)
    expect(readFencedReason(late.closing?.reason ?? '')).toBe(7)
    await holder.say('two')
    expect(holder.closing).toBeUndefined()
    expect(accepted()).toEqual(['one', 'two'])
  })

  it('[REL-132] remembers the highest number after its connection has closed', async () => {
    const { open, accepted } = await start(['fencing'])
    const holder = await open(7)
    holder.socket.close(3000)
    await turnEventLoop()
    expect((await open(6)).closing?.code).toBe(CLOSE_CODE.FENCED)
    const again = await open(7)
    await again.say('one')
    const next = await open(8)
    expect(again.closing?.code).toBe(CLOSE_CODE.NORMAL)
    await next.say('two')
    expect(accepted()).toEqual(['one', 'two'])
  })

  it('[REL-132] compares no numbers without the capability, nor for a connection without one', async () => {
    const plain = await start([])
    await plain.open(7)
    const lower = await plain.open(6)
    await lower.say('one')
    expect(plain.accepted()).toEqual(['one'])
    const fenced = await start(['fencing'])
    await fenced.open(7)
    const unnumbered = await fenced.open()
    await unnumbered.say('one')
    expect(fenced.accepted()).toEqual(['one'])
    expect((await fenced.open(6)).closing?.code).toBe(CLOSE_CODE.FENCED)
  })

  it('[REL-143] ignores a number more than a day ahead of the clock, which nothing could exceed', async () => {
    const { open, accepted } = await start(['fencing'])
    await open(7)
    await open(Number.MAX_SAFE_INTEGER)
    const next = await open(8)
    expect(next.closing).toBeUndefined()
    await next.say('one')
    expect(accepted()).toEqual(['one'])
  })
})
