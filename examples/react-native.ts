// An agent in React Native: its platform from the modules of the app, its store in AsyncStorage, over a restart of the app.
import assert from 'node:assert/strict'
import { AiAgent } from '@aiagent/client'
import {
  type AppStateLike,
  type AsyncStorageLike,
  asyncStorageCacheAdapter,
  completeAbortSignals,
  type NetInfoLike,
  nativeEnvironment,
} from '@aiagent/client/react-native'
import { serveEmulator } from '@aiagent/emulator/node'
import { nextEvent } from './next-event.ts'

const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
const endpoint = service.url

// These replace the modules of an app, which are imported there.
const stored = new Map<string, string>()
const AsyncStorage: AsyncStorageLike = {
  getItem: async key => stored.get(key) ?? null,
  setItem: async (key, value) => void stored.set(key, value),
  removeItem: async key => void stored.delete(key),
  getAllKeys: async () => [...stored.keys()],
}
const AppState: AppStateLike = { currentState: 'active', addEventListener: () => ({ remove: () => {} }) }
const NetInfo: NetInfoLike = { addEventListener: () => () => {} }
const getRandomValues = (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes)

// #region agent
completeAbortSignals(globalThis)

function createAgent(): AiAgent {
  const adapter = asyncStorageCacheAdapter(AsyncStorage)
  return new AiAgent(
    {
      id: 'help',
      endpoint,
      resume: true,
      persistQueue: true,
      cache: { adapter },
      auth: { type: 'anonymous', config: { cache: { adapter } } },
    },
    nativeEnvironment({ getRandomValues, appState: AppState, netInfo: NetInfo }),
  )
}
// #endregion

const agent = createAgent()
await agent.initialize()
await agent.connect()
await agent.setContext({ page: 'the basket' })
const answer = nextEvent(agent, 'agentMessage')
await agent.send('hello')
await answer
await agent.destroy()

// The app was restarted.
const restarted = createAgent()
await restarted.initialize()
assert.deepEqual(restarted.getContext(), { page: 'the basket' })
assert.deepEqual(
  restarted.getTranscript().map(({ message }) => message.content),
  ['hello', 'You said: hello'],
)
await restarted.connect()
assert.equal(service.emulator.world.sessions.size, 1)
await restarted.destroy()
await service.close()
