import type { AiAgent } from '@aiagent/client'
import { DONE, expectFrames, text } from '../frames.ts'
import { makeObservedAgent } from './library-client.ts'

/** An agent that is ready, not connected, and has so many messages waiting. */
export async function queuedAgent(endpoint: string, count: number): Promise<AiAgent> {
  const agent = makeObservedAgent(endpoint, { maxQueueSize: count, cache: { storageType: 'memory' } })
  await agent.initialize()
  // The first of them asks the service to say when the others have arrived.
  await agent.send(expectFrames(count - 1))
  for (let index = 1; index < count; index++) await agent.send(text(80))
  return agent
}

/** Connects, and says how many milliseconds the service then waited for the last of the messages. */
export function flush(agent: AiAgent): Promise<number> {
  return new Promise((resolve, reject) => {
    let start = 0
    agent.once('connected', () => {
      start = performance.now()
    })
    agent.on('agentMessage', ({ payload }) => {
      if (payload.message.content === DONE) resolve(performance.now() - start)
    })
    agent.connect().catch(reject)
  })
}
