import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import type { AiAgent } from '../ai-agent.ts'

/** Text that only the first user wrote. */
const SECRET = 'SECRET of the first user'

/** Calls of the host around a logout. Each may fail; none may leave anything behind. */
const CALLS: Record<string, (agent: AiAgent) => unknown> = {
  send: agent => agent.send(SECRET),
  ask: agent => agent.ask(SECRET),
  setContext: agent => agent.setContext({ note: SECRET }),
  sendContext: agent => agent.setContext({ note: SECRET }, { sendImmediately: true }),
  initialize: agent => agent.initialize({ context: { note: SECRET } }),
  connect: agent => agent.connect(),
  disconnect: agent => agent.disconnect(),
  restart: agent => agent.restartConnection(),
  details: agent => agent.getAgentDetails(),
  session: agent => agent.setSessionId(SECRET),
  clear: agent => agent.clearQueue(),
  logout: agent => agent.logout(),
}

const call = fc.constantFrom(...Object.keys(CALLS))
const step = fc.oneof({ weight: 3, arbitrary: call }, { weight: 1, arbitrary: fc.constant('wait') })

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([
  import('./load-agent.ts'),
  import('./clear-stored-data.ts'),
  import('../api/further-calls.ts'),
  import('../masking/data-masker.ts'),
])

describe('any order of calls around a logout', () => {
  it('[SEC-15] leaves nothing of the user to the next one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 8 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        async (before, during) => {
          const sessionStorage = new FakeStorage()
          const { clock, emulator, make } = setUp({}, { sessionStorage })
          const user = { token: emulator.control.issueToken({ subject: 'customer' }) }
          const { agent } = make({ id: 'account', auth: { getToken: async () => user.token } })
          const pending: Promise<unknown>[] = []
          const play = async (steps: string[], isOver = () => false) => {
            for (const name of steps) {
              if (isOver()) return
              if (name === 'wait') await clock.advance(20)
              else {
                // At once: a call that comes after the logout belongs to the next user.
                const made = new Promise(resolve => resolve(CALLS[name]?.(agent)))
                pending.push(made.catch(() => {}))
              }
            }
          }
          await play(before)
          let hasLeft = false
          const leaving = agent.logout().then(
            () => (hasLeft = true),
            () => (hasLeft = true),
          )
          // What follows the logout belongs to the next user.
          await play(during, () => hasLeft)
          await passing(clock, leaving)
          const sessions = emulator.world.sessions.size
          const others = new Set(emulator.world.sessions.keys())
          expect([agent.getTranscriptSize(), agent.getQueueSize(), agent.getContext()]).toEqual([0, 0, null])
          user.token = emulator.control.issueToken({ subject: 'new-customer' })
          await passing(clock, agent.initialize())
          await passing(clock, agent.connect())
          await agent.send('hello')
          await clock.advance(50)
          const own = [...emulator.world.sessions.keys()].filter(id => !others.has(id))
          expect(own).toHaveLength(emulator.world.sessions.size - sessions)
          const frames = own.flatMap(id => emulator.control.frames(id))
          const bodies = emulator.control
            .requests()
            .filter(({ path, method }) => method === 'POST' && path.endsWith('/session'))
          expect(
            JSON.stringify([frames, bodies.at(-1)?.body, agent.getTranscriptAsJSON(), agent.getContext()]),
          ).not.toContain('SECRET')
          expect(JSON.stringify([...sessionStorage.items])).not.toContain('SECRET')
          await agent.destroy()
          await passing(clock, Promise.all(pending))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('[SEC-15] finds what a call leaves behind: without a logout it is there', async () => {
    const { clock, make, emulator } = setUp()
    const { agent } = make({ id: 'account', auth: { getToken: async () => emulator.control.issueToken() } })
    await passing(clock, agent.initialize({ context: { note: SECRET } }))
    expect(JSON.stringify(agent.getContext())).toContain('SECRET')
    await agent.destroy()
    expect(await rejection(agent.send(SECRET))).toMatchObject({ code: 'ABORTED' })
  })
})
