import type { AgentFacts } from '../api/agent-facts.ts'
import type { ResolvedConfig } from '../config.ts'
import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { guardCacheAdapter } from '../storage/create-cache-adapter.ts'
import { DATABASE, IndexedDbCacheAdapter } from '../storage/indexed-db-cache-adapter.ts'
import { fnv1a } from '../util/fnv1a.ts'
import type { QueueSnapshot } from './outbox-store.ts'
import { StoredQueue } from './stored-queue.ts'

/** Start of every key; with a configured prefix, the part after the prefix. */
const KEY_START = 'aiagent_queue_'
const QUEUE = 'queue_'

/** Stands for the user of an anonymous token. */
const ANONYMOUS = 'anonymous'

/** How long a message of a tab that has ended may wait in the others, in milliseconds: a day. */
const SHARED_MS = 86_400_000

/** What the parts of one agent share, as far as storing the queue needs it. */
export interface StoredQueueScope {
  readonly config: Pick<ResolvedConfig, 'endpoint' | 'cache' | 'persistQueueMs'>
  readonly environment: Environment
  readonly logger: Logger
  readonly facts: AgentFacts
}

/** Start of the keys of a deployment. */
export function queueKeyStart(endpoint: string, cache: ResolvedConfig['cache'] = {}): string {
  const prefix = cache.contextPrefix ?? cache.keyPrefix
  return `${prefix ? prefix + QUEUE : KEY_START}${fnv1a(endpoint)}:`
}

/**
 * Creates the part that stores the queue: in IndexedDB in a page, in the configured adapter elsewhere.
 *
 * @param user fingerprint of the user, the same for all anonymous ones; undefined while there is no token
 * @param tabs the queues of tabs that share the conversation; with a store of the browser, only their keys
 */
export function createStoredQueue(
  { config, environment, logger, facts }: StoredQueueScope,
  user: () => string | undefined,
  snapshot: () => QueueSnapshot,
  tabs?: { readonly store: CacheAdapter & { has(key: string): boolean } },
): StoredQueue {
  const { cache, endpoint, persistQueueMs = SHARED_MS } = config
  const window = environment.page?.window
  const warn = (text: string, details?: Record<string, unknown>) => logger.warn(text, details)
  const isPersisted = config.persistQueueMs !== undefined
  const obstacle = isPersisted ? whatIsMissing(config, environment) : undefined
  if (obstacle) warn(`\`persistQueue\` has no effect: ${obstacle}.`)
  const shared = isPersisted && !obstacle ? undefined : tabs?.store
  const missing = shared ? undefined : obstacle
  const adapter: CacheAdapter =
    shared ??
    (window
      ? new IndexedDbCacheAdapter()
      : guardCacheAdapter(cache.adapter ?? environment.memory, environment.clock, (...warning) =>
          logger.warn(...warning),
        ))
  const start = queueKeyStart(endpoint, cache)
  const scope = () => {
    const name = user()
    if (missing || name === undefined) return undefined
    // A store that a process shares between conversations cannot tell anonymous users apart.
    if (name === ANONYMOUS && !environment.page && cache.contextPrefix === undefined) return undefined
    const { portal, profile } = facts.selection ?? {}
    const place = [facts.agentId, portal?.id, profile?.id].map(id => encodeURIComponent(id ?? ''))
    return `${start}${name}:${place.join(':')}:`
  }
  return new StoredQueue({
    adapter,
    identity: shared ?? cache.adapter ?? adapter,
    clock: environment.clock,
    window,
    scope,
    userScope: () => {
      const name = user()
      if (missing || name !== undefined) return missing ? undefined : `${start}${name}:`
      if (environment.page) return start
      // The prefix names the conversation, so that its anonymous user is the present one.
      return cache.contextPrefix === undefined ? undefined : `${start}${ANONYMOUS}:`
    },
    // The tabs that share a conversation have one user.
    isShared: () => tabs !== undefined,
    isAnonymous: () => !shared && user() === ANONYMOUS,
    used: tabs && {
      has: key => tabs.store.has(key),
      add: key => void tabs.store.set(key, { value: [], timestamp: 0 }),
    },
    newOwner: () => environment.randomUUID(),
    expiresAfterMs: persistQueueMs,
    snapshot,
    warn,
  })
}

function whatIsMissing({ cache }: Pick<ResolvedConfig, 'cache'>, { page }: Environment): string | undefined {
  if (cache.enabled === false) return '`cache.enabled` is false'
  if (!page?.window) return cache.adapter ? undefined : 'outside a page it needs `cache.adapter`'
  if (!page.window.navigator.locks) return 'the browser has no Web Locks, or the page is not served over HTTPS'
  return typeof indexedDB === 'undefined' ? 'the page has no IndexedDB' : undefined
}

/** Removes the stored queues of a deployment in the origin's database, if there is one. */
export async function clearStoredQueues(endpoint: string, cache: ResolvedConfig['cache'] | undefined): Promise<void> {
  const databases = await indexedDB.databases()
  if (!databases.some(({ name }) => name === DATABASE)) return
  const starts = [queueKeyStart(endpoint), ...(cache ? [queueKeyStart(endpoint, cache)] : [])]
  for (const start of starts) await new IndexedDbCacheAdapter().clear(start)
}
