import type { AiAgent } from '@aiagent/client'
import { text } from '../frames.ts'
import { connected, makeObservedAgent } from './library-client.ts'

/** Time between two looks at the clock, in milliseconds. */
const LOOK_MS = 4

/** Microseconds for each of many awaited messages, in a chat whose transcript is full. */
export async function timeSends(endpoint: string, count: number, isShared: boolean): Promise<number> {
  const agent = await connected(makeObservedAgent(endpoint, isShared ? { tabs: 'share' } : {}))
  const sendMany = async () => {
    for (let index = 0; index < count; index++) await agent.send(text(80))
  }
  await sendMany()
  const start = performance.now()
  await sendMany()
  const time = ((performance.now() - start) * 1000) / count
  await agent.destroy()
  return time
}

/** An agent of a conversation that tabs share. Resolves once its transcript has so many messages. */
export async function sharedAgent(endpoint: string, count: number): Promise<AiAgent> {
  const agent = await connected(makeObservedAgent(endpoint, { tabs: 'share', resume: true }))
  await filled(agent, count)
  return agent
}

/** Sends messages, which are answered, until the transcript has so many. */
export async function fill(agent: AiAgent, count: number): Promise<void> {
  for (let sent = 0; sent < count / 2; sent += 50) {
    for (let index = 0; index < 50; index++) await agent.send(text(80))
    await filled(agent, 2 * (sent + 50))
  }
}

async function filled(agent: AiAgent, count: number): Promise<void> {
  while (agent.getTranscriptSize() < count) await new Promise(resolve => setTimeout(resolve, LOOK_MS))
}

/**
 * Watches for long tasks. The function that it returns stops, and resolves with the time of the longest in milliseconds, 0 if none
 * took 50 ms. Timers would show nothing in a page behind another one, where they are slow.
 */
export function watchPage(): () => Promise<number> {
  let longest = 0
  const note = (entries: PerformanceEntry[]) => {
    for (const { duration } of entries) longest = Math.max(longest, duration)
  }
  const observer = new PerformanceObserver(list => note(list.getEntries()))
  observer.observe({ type: 'longtask' })
  return async () => {
    // The entry of the last task follows it.
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    note(observer.takeRecords())
    observer.disconnect()
    return longest
  }
}

/** How long emptying the transcript takes, in milliseconds. */
export function timeClear(agent: AiAgent): number {
  const start = performance.now()
  agent.clearTranscript()
  return performance.now() - start
}
