// A server with many agents in one process: an agent for each visitor, one store for all, and an orderly end on SIGTERM.
import assert from 'node:assert/strict'
import { AiAgent, MemoryCacheAdapter } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'

const service = await serveEmulator({
  reply: ({ text, context }) => ({ content: `${text} You look at ${context.page}.` }),
})

// #region fleet
/** The agents of all visitors. They share tokens and responses, so that only the first one loads them. */
class Fleet {
  /** Redis or another shared store replaces it when there are several processes. */
  readonly #store = new MemoryCacheAdapter()
  readonly #agents = new Map<string, Promise<AiAgent>>()

  /** The agent of a visitor, created when the visitor asks for the first time. */
  agentOf(visitor: string, page: string): Promise<AiAgent> {
    const known = this.#agents.get(visitor)
    if (known) return known
    const created = this.#create(visitor, page).catch(error => {
      this.#agents.delete(visitor)
      throw error
    })
    this.#agents.set(visitor, created)
    return created
  }

  /** Releases every agent, also those that are still being created. */
  async close(): Promise<void> {
    const agents = await Promise.allSettled(this.#agents.values())
    this.#agents.clear()
    await Promise.all(agents.map(result => (result.status === 'fulfilled' ? result.value.destroy() : undefined)))
  }

  async #create(visitor: string, page: string): Promise<AiAgent> {
    const agent = new AiAgent({
      id: 'help',
      endpoint: service.url,
      context: { page },
      cache: { adapter: this.#store, contextPrefix: `visitor_${visitor}_` },
      auth: { type: 'anonymous', config: { cache: { adapter: this.#store } } },
    })
    await agent.initialize()
    await agent.connect()
    return agent
  }
}

const fleet = new Fleet()
const stopped = new Promise<void>((resolve, reject) => {
  process.once('SIGTERM', () => fleet.close().then(resolve, reject))
})
// #endregion

const pages = ['the basket', 'the checkout', 'a router']
const visitors = Array.from({ length: 30 }, (_, index) => ({ name: `v${index}`, page: pages[index % 3] ?? '' }))
const [first, ...others] = visitors
assert.ok(first)
// The first visitor fills the store; the others find it full.
await fleet.agentOf(first.name, first.page)
const requests = service.emulator.control.requests().length
const agents = await Promise.all([first, ...others].map(({ name, page }) => fleet.agentOf(name, page)))
assert.equal(service.emulator.control.requests().length - requests, 2 * others.length) // a session and a chat for each

const answers = await Promise.all(agents.map(agent => agent.ask('Hello!')))
assert.deepEqual(
  answers.map(({ content }) => content),
  visitors.map(({ page }) => `Hello! You look at ${page}.`),
)

// What a supervisor sends when it stops the server.
process.kill(process.pid, 'SIGTERM')
await stopped
assert.deepEqual(
  agents.map(agent => agent.status.phase.at),
  visitors.map(() => 'destroyed'),
)
console.log(`${answers.length} visitors were answered, and all agents are released.`)
await service.close()
