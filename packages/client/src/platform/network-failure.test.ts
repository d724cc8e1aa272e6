import { paths } from '@aiagent/protocol'
import { expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import type { Page, PageWindow } from './page.ts'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([import('./network-failure.ts'), import('../auth/anonymous-token.ts')])

/** A page without a service policy, which counts the listeners on its document. */
function countedPage() {
  let listeners = 0
  const document = {
    addEventListener: () => void listeners++,
    removeEventListener: () => void listeners--,
  }
  const page: Page = {
    isHidden: () => false,
    nextTask: callback => void setImmediate(callback),
    onReturn: () => () => {},
    addScript: () => {
      throw new Error('This page loads no script.')
    },
    window: { document } as unknown as PageWindow,
  }
  return { page, listeners: () => listeners }
}

it('[REL-116] destroy() ends the search for the cause of a failed request', async () => {
  const { page, listeners } = countedPage()
  const { clock, emulator, make } = setUp({}, { page })
  const { agent } = make()
  emulator.close()
  const initializing = rejection(agent.initialize())
  // The test request of the page has failed too, and the event of a policy violation may still follow.
  for (let steps = 0; listeners() === 0 && steps < 100; steps++) await clock.advance(0)
  expect(listeners()).toBe(1)
  await agent.destroy()
  await clock.advance(0)
  expect([listeners(), clock.pendingTimers]).toEqual([0, 0])
  await passing(clock, initializing)
})

it('[REL-116] destroy() ends a token request that nobody else waits for', async () => {
  const { clock, emulator, make } = setUp()
  const { agent } = make()
  for (const path of [paths.metadataOfDeployment(), paths.metadataOfTenant(emulator.world.tenants[0]?.id ?? '')])
    emulator.faults.add({ kind: 'hang-request', route: path })
  const initializing = rejection(agent.initialize())
  const hasAsked = () => emulator.control.requests().some(({ path }) => path.includes('metadata'))
  for (let steps = 0; !hasAsked() && steps < 100; steps++) await clock.advance(0)
  expect(hasAsked()).toBe(true)
  await agent.destroy()
  await clock.advance(0)
  expect(clock.pendingTimers).toBe(0)
  await passing(clock, initializing)
})
