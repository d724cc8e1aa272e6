import { type AgentEvents, AiAgent } from '@aiagent/client'
import { type UnstorageLike, unstorageCacheAdapter } from '@aiagent/client/unstorage'
import type { ServerMessage } from '@aiagent/protocol'

/** What a host's TypeScript sees of the packed packages: names, events with their payloads, and the wire's records. */
export async function host(endpoint: string): Promise<AiAgent> {
  const agent = new AiAgent({ id: 'help', endpoint })
  agent.on('closed', (event: AgentEvents['closed']) => {
    const willReconnect: boolean = event.payload.willReconnect
    console.info(willReconnect)
  })
  // @ts-expect-error unknown event
  agent.on('no-such-event', () => undefined)
  await agent.initialize()
  return agent
}

/** The adapter of one entry is the store of the other. */
export const sharing = (endpoint: string, storage: UnstorageLike): AiAgent =>
  new AiAgent({ id: 'help', endpoint, cache: { adapter: unstorageCacheAdapter(storage) } })

/** A record of the wire, by its type alone. */
export const frameText = (frame: ServerMessage): string => frame.content ?? ''
