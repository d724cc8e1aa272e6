import { PERSONA, ROLE } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { framesArrived, lastSession, passing, setUp } from '../../test/agent-harness.ts'

async function setUpSession(capabilities: ('receipts' | 'resume')[]) {
  const parts = setUp({ settings: { capabilities } })
  const { agent: first } = parts.make()
  await first.initialize()
  const sessionId = lastSession(parts.emulator)
  await first.destroy()
  const { agent } = parts.make({ sessionId, context: { plan: 'gold' } })
  await agent.initialize()
  const frames = () => parts.emulator.control.frames(sessionId).map(({ message }) => message)
  return { ...parts, agent, sessionId, frames }
}

describe('the frames of the chat itself', () => {
  it('[REL-108] carry an id where the service has announced receipts', async () => {
    const { agent, clock, emulator, frames } = await setUpSession(['receipts'])
    await agent.connect()
    await framesArrived(emulator, 1)
    await passing(clock, agent.disconnect())
    const system = frames().filter(message => message?.persona === PERSONA.SYSTEM)
    expect(system.map(message => message?.role)).toEqual([ROLE.CONTEXT, ROLE.GRACEFUL_DISCONNECT])
    const ids = system.map(message => message?.messageId)
    expect(ids).toEqual([expect.any(String), expect.any(String)])
    expect(new Set(ids).size).toBe(2)
    await agent.destroy()
  })

  it('[REL-108] are those of the plain wire elsewhere', async () => {
    const { agent, clock, emulator, frames } = await setUpSession([])
    await agent.connect()
    await framesArrived(emulator, 1)
    await passing(clock, agent.disconnect())
    expect(frames()).toHaveLength(2)
    for (const message of frames()) expect(message).not.toHaveProperty('messageId')
    await agent.destroy()
  })

  it('[REL-108] repeat the context under its id until the service has confirmed it', async () => {
    const { agent, clock, emulator, sessionId, frames } = await setUpSession(['receipts'])
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await agent.connect()
    await clock.advance(100)
    expect(emulator.world.sessions.get(sessionId)?.context).toEqual({})
    emulator.control.dropSockets()
    emulator.faults.lift()
    // Now only the receipt is lost.
    emulator.faults.add({ kind: 'lose-receipts', times: 1 })
    await clock.advance(3_000)
    emulator.control.dropSockets()
    await clock.advance(3_000)
    expect(emulator.world.sessions.get(sessionId)?.context).toEqual({ plan: 'gold' })
    const ids = frames().map(message => message?.messageId)
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
    emulator.control.dropSockets()
    await clock.advance(3_000)
    expect(frames()).toHaveLength(2)
    await agent.destroy()
  })
})
