import type { ResolvedConfig } from '../check-config.ts'
import type { Transcript } from '../log/transcript.ts'
import type { Environment } from '../platform/environment.ts'
import { hasLocks } from '../platform/locks.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { ANONYMOUS, conversationParts, type LeftValue } from '../storage/handed-over.ts'
import { IndexedDbCacheAdapter } from '../storage/indexed-db-cache-adapter.ts'
import { KeyedStore, KINDS } from '../storage/keyed-store.ts'
import type { StoreWarning } from '../storage/store-guard.ts'
import { fnv1a } from '../util/fnv1a.ts'
import type { Outbox } from './outbox.ts'
import { OutboxStore } from './outbox-store.ts'
import { DEFAULT_WAIT_MS, QUEUE_VERSION } from './stored-message.ts'
import { StoredQueue } from './stored-queue.ts'

/**
 * Creates the part that stores the queue: with `persistQueue` in IndexedDB in a page and in the configured adapter elsewhere,
 * otherwise in the memory of the tabs that share the conversation. Without both it stores nothing.
 *
 * @param user fingerprint of the user, the same for all anonymous ones; undefined while there is no token
 * @param tabs the queues of tabs that share the conversation; with a store of the browser, only their keys
 */
export function createQueueStore(
  scope: AgentScope<never>,
  user: () => string | undefined,
  outbox: Outbox,
  transcript: Transcript,
  tabs?: { readonly store: CacheAdapter & { has(key: string): boolean } },
): OutboxStore {
  const { config, environment, logger } = scope
  const { cache, endpoint, persistQueueMs = DEFAULT_WAIT_MS } = config
  const warn = (text: string, details?: Record<string, unknown>) => logger.warn(text, details)
  const persistent = config.persistQueueMs === undefined ? undefined : openStore(config, environment, warn)
  const adapter = persistent ?? tabs?.store
  const hash = fnv1a(endpoint)
  const queue = new StoredQueue({
    store: new KeyedStore<LeftValue>(KINDS.queue, { environment, cache, adapter: adapter ?? environment.memory, warn }),
    // Agents have different guards around the same adapter.
    identity: cache.adapter ?? environment.memory,
    clock: environment.clock,
    window: environment.page?.window,
    parts: () => {
      const parts = adapter && conversationParts(scope, user(), QUEUE_VERSION)
      return parts && { hash, ...parts }
    },
    userParts: () => {
      const name = user()
      if (!adapter || name !== undefined) return adapter && { hash, user: name }
      if (environment.page) return { hash }
      // The prefix names the conversation, so that its anonymous user is the present one.
      return cache.contextPrefix === undefined ? undefined : { hash, user: ANONYMOUS }
    },
    // The tabs that share a conversation have one user.
    isShared: () => tabs !== undefined,
    isAnonymous: () => persistent !== undefined && user() === ANONYMOUS,
    // The memory of the tabs holds no other keys.
    used: persistent &&
      tabs && {
        has: key => tabs.store.has(key),
        add: key => void tabs.store.set(key, { value: {}, timestamp: 0 }),
      },
    newName: () => environment.randomUUID(),
    expiresAfterMs: persistQueueMs,
    snapshot: () => store.snapshot(),
    warn,
  })
  const store: OutboxStore = new OutboxStore(scope, queue, outbox, transcript)
  return store
}

/** The store that outlives the page or the process; undefined, with a warning, where there is none. */
function openStore(
  { cache }: ResolvedConfig,
  { page, memory }: Environment,
  warn: StoreWarning,
): CacheAdapter | undefined {
  const missing = findMissing(cache, page)
  if (missing) return void warn(`\`persistQueue\` has no effect: ${missing}.`)
  return page?.window ? new IndexedDbCacheAdapter() : (cache.adapter ?? memory)
}

function findMissing(cache: ResolvedConfig['cache'], page: Environment['page']): string | undefined {
  if (cache.enabled === false) return '`cache.enabled` is false'
  if (!page?.window) return cache.adapter ? undefined : 'outside a page it needs `cache.adapter`'
  if (!hasLocks(page.window)) return 'the browser has no Web Locks, or the page is not served over HTTPS'
  return typeof indexedDB === 'undefined' ? 'the page has no IndexedDB' : undefined
}

/** Removes the expired queues of every user and deployment from the page's database: a store removes what it finds expired. */
export async function sweepQueues(environment: Environment): Promise<void> {
  const adapter = new IndexedDbCacheAdapter()
  const store = new KeyedStore(KINDS.queue, { environment, adapter })
  for (const key of await adapter.keys()) await store.get(key)
}
