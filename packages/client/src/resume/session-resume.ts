import { isSessionRefusal } from '@aiagent/protocol'
import type { Startup } from '../agent/lifecycle.ts'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import type { SessionKeeper } from '../chat/chat-session.ts'
import type { ContextStore } from '../conversation/context-store.ts'
import type { MessageProcessor } from '../conversation/message-processor.ts'
import type { Transcript, TranscriptEntry } from '../conversation/transcript.ts'
import { ApiError, ConnectionError, type SDKError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Message, ReceivedIn } from '../outbox/message.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { createCacheAdapter, guardCacheAdapter } from '../storage/create-cache-adapter.ts'
import { untilAborted, withTimeLimit } from '../util/abort.ts'
import { fnv1a } from '../util/fnv1a.ts'
import { EarlierMessages } from './history-merge.ts'
import { KeptSession } from './stored-session.ts'

/** Longest wait for what was said before, in milliseconds: the conversation goes on without it. */
const TRANSCRIPT_LIMIT_MS = 5_000

/** Start of every key; under a prefix of the host's, what stands behind it. */
const KEY_START = 'aiagent_session_'
const SESSION = 'session_'

/** Who talks where nobody has signed in. */
const ANONYMOUS = 'anonymous'

export interface ResumptionOptions {
  /** The configured agent's id. */
  readonly agentId: string
  readonly endpoint: string
  readonly cache: CacheConfig
  readonly environment: Environment
  readonly logger: Logger
  readonly startup: Pick<Startup, 'findDeployment' | 'resolvedAgentId' | 'desk'>
  readonly authentication: Pick<AuthenticationService, 'getCachedToken'>
  readonly context: Pick<ContextStore, 'hasNews'>
  readonly transcript: Transcript
  readonly processor: Pick<MessageProcessor, 'handlerFor'>
  /** Where a received message belongs. */
  readonly received: ReceivedIn
  // What the page has loaded by now, handed over so that it is not split into pieces for this one's sake:
  /** A fingerprint of the person behind a token; absent for anybody. */
  personOf(token: string): string | undefined
  /** Reads a frame; throws for what is none. */
  read(text: string, place: ReceivedIn): Message
  /** What was said before stands in the transcript now. */
  restored(entries: readonly TranscriptEntry[]): void
  emitError(error: SDKError): void
}

interface Resumed {
  readonly id: string
  readonly messages: EarlierMessages
  /** What came into the transcript by it. */
  readonly entries: Set<TranscriptEntry>
  /** Whether the chat has told what it has. */
  isTold?: true
}

/**
 * A conversation that outlives its page: the session is kept for the next page, which asks the service whether it still
 * knows it, and takes what was said into its transcript. A chunk of its own, for hosts that want it.
 */
export class Resumption implements SessionKeeper {
  readonly #options: ResumptionOptions
  readonly #kept: KeptSession | undefined
  readonly #isTabs: boolean
  #resumed: Resumed | undefined

  constructor(options: ResumptionOptions) {
    this.#options = options
    const { cache, environment, logger } = options
    const adapter = storeOf(cache, environment, logger)
    this.#isTabs = cache.adapter === undefined
    if (!adapter) return
    this.#kept = new KeptSession({
      adapter,
      isTabs: this.#isTabs,
      window: environment.page?.window,
      newHolder: () => environment.randomUUID(),
      now: () => environment.clock.now(),
      onWarning: (message, details) => logger.warn(message, details),
    })
  }

  async recall(signal: AbortSignal): Promise<{ id: string; lacksContext: boolean } | undefined> {
    const key = this.#key()
    if (!this.#kept || key === undefined) return undefined
    // In the tab's own store nobody else's conversation is to lie about. Others share a store of the host's.
    if (this.#isTabs) void this.#kept.forget(this.#prefix(), this.#personPrefix())
    const id = await untilAborted(this.#kept.take(key), signal)
    if (id === undefined) return undefined
    if (await this.isKnown(id, signal)) return { id, lacksContext: this.#options.context.hasNews }
    this.keep(undefined)
    return undefined
  }

  async isKnown(id: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { environment, emitError, logger } = this.#options
    try {
      const list = await withTimeLimit(environment.clock, TRANSCRIPT_LIMIT_MS, signal, inner => this.#ask(id, inner))
      this.#restore(this.#resume(id), list)
    } catch (error) {
      if (signal?.aborted) throw error
      if (error instanceof ApiError && isSessionRefusal(error.status)) {
        emitError(forgotten(error))
        return false
      }
      logger.warn('What was said before the reload could not be had. The conversation goes on without it.', { error })
      this.#resume(id)
    }
    return true
  }

  keep(id: string | undefined): void {
    if (id !== this.#resumed?.id) this.#resumed = undefined
    const key = this.#key()
    if (id === undefined) this.#kept?.drop()
    else if (key !== undefined) this.#kept?.keep(id, key)
  }

  /** The chat tells what was said in the session. */
  historyArrived(list: readonly unknown[]): void {
    const resumed = this.#resumed
    if (!resumed || resumed.isTold) return
    resumed.isTold = true
    this.#restore(resumed, list)
  }

  /** The person leaves: nothing of theirs is to be found again. */
  async forget(): Promise<void> {
    this.#resumed = undefined
    await this.#kept?.forget(this.#isTabs ? this.#prefix() : this.#personPrefix())
  }

  /** The agent is destroyed: the next one may go on. */
  async release(): Promise<void> {
    await this.#kept?.release()
  }

  #resume(id: string): Resumed {
    if (this.#resumed?.id === id) return this.#resumed
    const { received, read, environment } = this.#options
    const place = { from: received.from, agentId: received.agentId, sessionId: id, timestamp: undefined }
    const messages = new EarlierMessages({ place, read, since: environment.clock.now() })
    this.#resumed = { id, messages, entries: new Set() }
    return this.#resumed
  }

  async #ask(sessionId: string, signal: AbortSignal): Promise<unknown[]> {
    const { api } = await this.#options.startup.findDeployment(signal)
    return api.getPreviousTranscript({ agentId: this.#agentId, sessionId, signal })
  }

  /** Puts what is news of a list into the transcript: ahead of what this page has said, behind what was put there before. */
  #restore(resumed: Resumed, list: readonly unknown[]): void {
    const { transcript, processor, restored } = this.#options
    const present = transcript.get()
    const here = present.filter(entry => !resumed.entries.has(entry))
    const news = resumed.messages.take(list, here).flatMap(({ message, direction, timestamp }) => {
      const type = direction === 'received' ? processor.handlerFor(message)?.resultType : undefined
      return transcript.entryOf(message, direction, timestamp, type) ?? []
    })
    for (const entry of news) resumed.entries.add(entry)
    const place = present.findLastIndex(entry => resumed.entries.has(entry)) + 1
    transcript.replace([...present.slice(0, place), ...news, ...present.slice(place)])
    const entries = transcript.get().filter(entry => news.includes(entry))
    if (entries.length > 0) restored(entries)
  }

  #prefix(): string {
    const { agentId, cache, endpoint } = this.#options
    const prefix = cache.contextPrefix ?? cache.keyPrefix
    const start = prefix ? prefix + SESSION : KEY_START
    return `${start}${fnv1a(endpoint)}:${encodeURIComponent(agentId)}:`
  }

  #personPrefix(): string {
    return `${this.#prefix()}${this.#person()}:`
  }

  /** A fingerprint of who talks; absent while that is not known. */
  #person(): string | undefined {
    const token = this.#options.authentication.getCachedToken()
    return token === null ? undefined : (this.#options.personOf(token) ?? ANONYMOUS)
  }

  /** The agent the chat runs under. */
  get #agentId(): string {
    return this.#options.startup.resolvedAgentId ?? this.#options.agentId
  }

  /** Where the session is kept; nowhere while it is not known who talks, or where nothing tells people apart. */
  #key(): string | undefined {
    const { startup, environment, cache } = this.#options
    const person = this.#person()
    if (person === undefined) return undefined
    const isManyPeoples = !this.#isTabs && !environment.page && cache.contextPrefix === undefined
    if (person === ANONYMOUS && isManyPeoples) return undefined
    // A portal and a profile have a conversation of their own: they were part of the context it began with.
    const { portal, profile } = startup.desk?.pipeline.outcome ?? {}
    const place = [this.#agentId, portal?.id, profile?.id].map(id => encodeURIComponent(id ?? ''))
    return this.#personPrefix() + place.join(':')
  }
}

/**
 * The store for the session: the tab's, whatever kind of storage the answers of the service are kept in, since a session
 * belongs to one tab; or the host's own. None outside a browser, where the memory is that of many people.
 */
function storeOf(
  { enabled, adapter, storageType }: CacheConfig,
  environment: Environment,
  logger: Logger,
): CacheAdapter | undefined {
  if (enabled === false) return undefined
  if (adapter) return guardCacheAdapter(adapter, environment.clock, (...warning) => logger.warn(...warning))
  const own = createCacheAdapter(storageType === 'memory' ? 'memory' : 'session', environment)
  return own === environment.memory && !environment.page ? undefined : own
}

function forgotten(cause: ApiError): ConnectionError {
  const message = `The service no longer knows the session that was kept (HTTP status ${cause.status}). A new one is asked for.`
  return new ConnectionError(message, 'refused', { cause, httpStatus: cause.status })
}
