import type { ResolvedConfig } from '../check-config.ts'
import type { Transcript } from '../log/transcript.ts'
import type { Environment } from '../platform/environment.ts'
import { hasLocks } from '../platform/locks.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { guardCacheAdapter } from '../storage/create-cache-adapter.ts'
import { sweepHandedOver } from '../storage/handed-over.ts'
import { IndexedDbCacheAdapter } from '../storage/indexed-db-cache-adapter.ts'
import type { StoreWarning } from '../storage/store-guard.ts'
import { fnv1a } from '../util/fnv1a.ts'
import { encodeKey } from '../util/well-formed.ts'
import type { Outbox } from './outbox.ts'
import { OutboxStore } from './outbox-store.ts'
import { DEFAULT_WAIT_MS, isExpired, QUEUE_VERSION } from './stored-message.ts'
import { StoredQueue } from './stored-queue.ts'

/** Start of every key; with a configured prefix, the part after the prefix. */
const KEY_START = 'aiagent_queue_'
const QUEUE = 'queue_'

/** Stands for the user of an anonymous token. */
const ANONYMOUS = 'anonymous'

/** Start of the keys of a deployment. */
export function queueKeyStart(endpoint: string, cache: ResolvedConfig['cache'] = {}): string {
  const prefix = cache.contextPrefix ?? cache.keyPrefix
  return `${prefix ? prefix + QUEUE : KEY_START}${fnv1a(endpoint)}:`
}

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
  const { config, environment, logger, facts } = scope
  const { cache, endpoint, persistQueueMs = DEFAULT_WAIT_MS } = config
  const warn = (text: string, details?: Record<string, unknown>) => logger.warn(text, details)
  const persistent = config.persistQueueMs === undefined ? undefined : openStore(config, environment, warn)
  const adapter = persistent ?? tabs?.store
  const start = queueKeyStart(endpoint, cache)
  const keyScope = () => {
    const name = user()
    if (!adapter || name === undefined) return undefined
    // A store that a process shares between conversations cannot tell anonymous users apart.
    if (name === ANONYMOUS && !environment.page && cache.contextPrefix === undefined) return undefined
    const { portal, profile } = facts.selection ?? {}
    const place = [facts.agentId, portal?.id, profile?.id].map(id => encodeKey(id ?? ''))
    return `${start}${name}:${place.join(':')}:${QUEUE_VERSION}:`
  }
  const queue = new StoredQueue({
    adapter: adapter ?? environment.memory,
    // Agents have different guards around the same adapter.
    identity: cache.adapter ?? environment.memory,
    clock: environment.clock,
    window: environment.page?.window,
    scope: keyScope,
    userScope: () => {
      const name = user()
      if (!adapter || name !== undefined) return adapter && `${start}${name}:`
      if (environment.page) return start
      // The prefix names the conversation, so that its anonymous user is the present one.
      return cache.contextPrefix === undefined ? undefined : `${start}${ANONYMOUS}:`
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
  { page, memory, clock }: Environment,
  warn: StoreWarning,
): CacheAdapter | undefined {
  const missing = findMissing(cache, page)
  if (missing) return void warn(`\`persistQueue\` has no effect: ${missing}.`)
  return page?.window ? new IndexedDbCacheAdapter() : guardCacheAdapter(cache.adapter ?? memory, clock, warn)
}

function findMissing(cache: ResolvedConfig['cache'], page: Environment['page']): string | undefined {
  if (cache.enabled === false) return '`cache.enabled` is false'
  if (!page?.window) return cache.adapter ? undefined : 'outside a page it needs `cache.adapter`'
  if (!hasLocks(page.window)) return 'the browser has no Web Locks, or the page is not served over HTTPS'
  return typeof indexedDB === 'undefined' ? 'the page has no IndexedDB' : undefined
}

/** Removes what has expired of the queues in the page's database, whose agents have ended: nobody else may come for it. */
export async function sweepQueues({ page, clock }: Environment): Promise<void> {
  // An agent that runs still sends what it has stored.
  if (page?.window)
    await sweepHandedOver(new IndexedDbCacheAdapter(), page.window, (entry, left) =>
      isExpired(entry, left, clock.now()),
    )
}
