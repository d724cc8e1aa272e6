import { isSessionRefusal } from '@aiagent/protocol'
import { storedUser } from '../auth/authentication-service.ts'
import type { SavedSession, SessionKeeper } from '../chat/chat-session.ts'
import type { MessageProcessor } from '../conversation/handlers.ts'
import { ApiError, ConnectionError } from '../errors.ts'
import type { HistoryElement, Message, MessageOrigin } from '../log/message.ts'
import { mergeHistory, READ_LIMIT, readHistory } from '../log/reconcile.ts'
import type { OutboxParts } from '../outbox/outbox.ts'
import type { Environment } from '../platform/environment.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { conversationParts, partsOfUser } from '../storage/handed-over.ts'
import { type KeyParts, KINDS, keysWith } from '../storage/keyed-store.ts'
import { createCacheAdapter } from '../storage/storage-cache-adapter.ts'
import { untilAborted, withTimeLimit } from '../util/abort.ts'
import { fnv1a } from '../util/text.ts'
import { SESSION_VERSION, StoredSession } from './stored-session.ts'

/** Time limit for loading the previous transcript, in milliseconds. Without it the conversation continues. */
const TRANSCRIPT_LIMIT_MS = 5_000

/** How many messages of a history are read in one task. */
const READ_AT_ONCE = 500

type SessionResumeScope = AgentScope<'transcriptRestored'>

interface ResumedSession {
  readonly id: string
  /** When this page resumed it, in milliseconds since the epoch. */
  since: number
  /** Whether another page has opened it. */
  readonly isJoined?: true
  /** Time of the last message that the service had then, by its own clock; undefined where it has not said. */
  lastTime?: number
  /** Whether the chat has sent its history. */
  hasHistory?: true
}

/** The parts that it uses. */
interface SessionResumeParts extends Pick<OutboxParts, 'authentication' | 'context' | 'log' | 'session'> {
  readonly processor: MessageProcessor
}

/**
 * Resumes the conversation of the previous page: stores the session, checks whether the service still knows it, and
 * restores its transcript. A separate file in a page, for hosts that use `resume`.
 */
export class SessionResume implements SessionKeeper {
  readonly #scope: SessionResumeScope
  readonly #parts: SessionResumeParts
  /** The session of this tab; absent without `resume`. */
  readonly #own: StoredSession | undefined
  readonly #isTabs: boolean
  #resumed: ResumedSession | undefined

  constructor(scope: SessionResumeScope, parts: SessionResumeParts) {
    this.#scope = scope
    this.#parts = parts
    const { config, environment } = scope
    const adapter = config.resume ? storeOf(config.cache, environment) : undefined
    this.#isTabs = config.cache.adapter === undefined
    this.#own = adapter && new StoredSession(scope, adapter, this.#isTabs)
  }

  async load(signal: AbortSignal): Promise<SavedSession | undefined> {
    const key = this.#key()
    if (key === undefined) return undefined
    const id = await untilAborted(this.#take(key), signal)
    if (id === undefined) return undefined
    const found = await this.#find(id, signal)
    if (found) return { id, needsContext: this.#parts.context.isChanged, isEmpty: found.isEmpty }
    this.keep(undefined, true)
    return undefined
  }

  /** @param isForgotten whether the service no longer knows the session: the host's data stays for the next one */
  keep(id: string | undefined, isForgotten = false): void {
    if (id !== this.#resumed?.id) this.#resumed = undefined
    const key = this.#key()
    const { shared } = this.#scope
    if (id === undefined) {
      shared?.session.drop()
      this.#own?.drop(isForgotten)
    } else if (key !== undefined) {
      shared?.session.use(id)
      this.#own?.keep(id, key)
    }
  }

  join(id: string): void {
    this.#resumed = { id, since: this.#scope.environment.clock.now(), isJoined: true }
  }

  /** The chat has sent the history of the session. */
  historyArrived(history: readonly HistoryElement[]): void {
    const resumed = this.#resumed
    if (!resumed || resumed.hasHistory) return
    resumed.hasHistory = true
    if (resumed.isJoined) void this.#restoreJoined(resumed, history)
    else this.#restore(resumed, history)
  }

  /**
   * Removes the stored sessions of a user with any agent, of everybody where a tab's user is unknown. In a tab's own store, those of
   * every user with this agent too: an earlier token may have named the user otherwise.
   */
  async forgetUser(user: string | undefined): Promise<void> {
    this.#resumed = undefined
    if (user === undefined && !this.#isTabs) this.#own?.forgetUnknownUser()
    const left = [partsOfUser(this.#scope, user, this.#isTabs), this.#isTabs ? this.#names : undefined]
    await Promise.all(left.map(parts => parts && this.#own?.forget(parts)))
  }

  /** The host's data of the session. */
  async getData(): Promise<unknown> {
    return this.#own?.getData()
  }

  /** Stores the host's data with the session. */
  async setData(data: unknown): Promise<void> {
    await this.#own?.setData(data)
  }

  /** The agent was destroyed: the next one may resume the session. */
  async release(): Promise<void> {
    this.#scope.shared?.session.end()
    await this.#own?.release()
  }

  /** The session of the other tabs, otherwise the one that the previous page of this tab has left. */
  async #take(key: string): Promise<string | undefined> {
    const own = this.#own
    const group = this.#scope.shared?.session
    // Remove other users' sessions from sessionStorage. A custom adapter may be shared; leave it alone.
    if (this.#isTabs) own?.forget(this.#names, { user: this.#user }).catch(error => this.#scope.reportLeft(error))
    if (!group) return own?.take(key)
    let left: string | undefined
    const id = await group.take(key, async () => {
      left = await own?.take(key)
      return left
    })
    if (id === undefined) own?.drop(left === undefined)
    else own?.keep(id, key)
    return id
  }

  /** Restores the transcript of a session. Returns whether it is empty, as far as is known; undefined for an unknown session. */
  async #find(id: string, signal: AbortSignal): Promise<Pick<SavedSession, 'isEmpty'> | undefined> {
    const { environment, logger } = this.#scope
    try {
      const { list, history } = await withTimeLimit(environment.clock, TRANSCRIPT_LIMIT_MS, signal, async inner => {
        const list = await this.#parts.session.loadTranscript(id, inner)
        return { list, history: await this.#read(list, id) }
      })
      const resumed = this.#resume(id)
      const { lastTime = Infinity } = resumed
      this.#restore({ ...resumed, lastTime }, history)
      resumed.lastTime ??= Math.max(...history.map(({ message }) => message.timestamp ?? 0))
      return { isEmpty: list.length === 0 }
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof ApiError && isSessionRefusal(error.status)) {
        this.#scope.reportError(forgotten(error))
        return undefined
      }
      logger.warn('Could not load the previous transcript. The conversation continues without it.', { error })
      this.#resume(id)
      return { isEmpty: undefined }
    }
  }

  /** Reads a history in pieces: thousands of messages in one task would block the page. */
  async #read(list: readonly unknown[], id: string): Promise<HistoryElement[]> {
    const { page } = this.#scope.environment
    const end = list.slice(-READ_LIMIT)
    const history: HistoryElement[] = []
    for (let start = 0; start < end.length; start += READ_AT_ONCE) {
      if (start > 0) await new Promise<void>(resolve => (page ? page.nextTask(resolve) : resolve()))
      history.push(...readHistory(end.slice(start, start + READ_AT_ONCE), this.#originOf(id)))
    }
    return history
  }

  #resume(id: string): ResumedSession {
    if (this.#resumed?.id !== id) this.#resumed = { id, since: this.#scope.environment.clock.now() }
    return this.#resumed
  }

  /** The other page knows only what the agent has said: the service knows the order of everything. */
  async #restoreJoined(resumed: ResumedSession, shown: readonly HistoryElement[]): Promise<void> {
    resumed.since = this.#scope.environment.clock.now()
    const history = await this.#parts.session
      .loadHistory()
      .then(list => this.#read(list, resumed.id))
      .catch(() => shown)
    if (this.#resumed === resumed) this.#restore(resumed, history)
  }

  #originOf(sessionId: string): MessageOrigin {
    const { agentName, agentId } = this.#scope.facts
    return { agentName, agentId, sessionId }
  }

  /** Adds the messages of a history that this page does not have to the transcript. */
  #restore({ id, since, lastTime = since }: ResumedSession, history: readonly HistoryElement[]): void {
    const log = this.#parts.log
    const options = { log, sessionId: id, openedAt: since, olderThan: lastTime, isFromStart: true }
    const typeOf = (message: Message) => this.#parts.processor.handlerFor(message)?.resultType
    const { inserted, removed } = log.insert(mergeHistory(history, options), id, typeOf)
    const added = new Set(inserted.map(({ entry }) => entry))
    const entries = log.entries().filter(entry => added.has(entry))
    if (entries.length > 0) this.#scope.emit('transcriptRestored', () => ({ entries }))
    log.reportTrimmed(removed)
  }

  get #user(): string | undefined {
    return storedUser(this.#scope, this.#parts.authentication)
  }

  /** The parts of every key of the agent. */
  get #names(): KeyParts {
    const { id, endpoint } = this.#scope.config
    return { hash: fnv1a(endpoint), agent: String(id) }
  }

  /** Key of the session; undefined while the user is unknown, and if users cannot be distinguished. */
  #key(): string | undefined {
    const parts = conversationParts(this.#scope, this.#user, SESSION_VERSION, this.#isTabs)
    return parts && keysWith(KINDS.session, this.#scope.config.cache, { ...this.#names, ...parts }).key
  }
}

/**
 * The store for the session: session storage, since a session belongs to one tab, or the configured adapter. None outside a
 * browser, where the memory is shared by many users.
 */
function storeOf({ enabled, adapter, storageType }: CacheConfig, environment: Environment): CacheAdapter | undefined {
  if (enabled === false) return undefined
  if (adapter) return adapter
  const own = createCacheAdapter(storageType === 'memory' ? 'memory' : 'session', environment)
  return own === environment.memory && !environment.page ? undefined : own
}

function forgotten(cause: ApiError): ConnectionError {
  const message = `The service no longer knows the stored session (HTTP status ${cause.status}). A new one is created.`
  return new ConnectionError(message, 'refused', { cause, httpStatus: cause.status })
}
