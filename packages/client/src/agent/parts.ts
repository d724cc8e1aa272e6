import { features } from '#features'
import { AuthenticationService, storedUser } from '../auth/authentication-service.ts'
import { ReconnectPolicy } from '../chat/backoff.ts'
import { Chat } from '../chat/chat.ts'
import { ChatSession } from '../chat/chat-session.ts'
import { Connection } from '../chat/connection.ts'
import { ContextStore } from '../chat/context-store.ts'
import { Liveness } from '../chat/liveness.ts'
import { MessageProcessor } from '../conversation/handlers.ts'
import { Inbox } from '../conversation/inbox.ts'
import { MessageStreams } from '../conversation/message-streams.ts'
import { Recovery } from '../conversation/recovery.ts'
import { WorkingState } from '../conversation/working-state.ts'
import type { Message } from '../log/message.ts'
import { MessageLog } from '../log/message-log.ts'
import { Masking } from '../masking/masking.ts'
import type { QueueStore } from '../outbox/delivery-ledger.ts'
import { Outbox } from '../outbox/outbox.ts'
import { feature, type OptionalFeature, optionalFeature } from '../platform/feature.ts'
import type { SessionResume } from '../resume/session-resume.ts'
import type { AgentScope, SignOutCause } from '../scope.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { ANONYMOUS } from '../storage/keyed-store.ts'
import type { TabGroup } from '../tabs/tab-group.ts'
import { subjectFingerprint } from '../util/jwt.ts'
import { Start } from './start.ts'

/**
 * The parts of one agent, each constructed after the parts that it uses. Calls go from the later ones to the earlier ones;
 * the connection calls the parts that observe it.
 */
export class AgentParts {
  readonly scope: AgentScope
  readonly authentication: AuthenticationService
  readonly masking: Masking
  readonly log: MessageLog
  readonly context: ContextStore
  /** Settles when the stored context has been read. */
  readonly contextRestored: Awaitable<void>
  readonly start: Start
  /** Only with `tabs`. */
  readonly tabs: OptionalFeature<TabGroup | undefined> | undefined
  /** Loaded before the first session is requested; undefined until then, and where the browser cannot share it. */
  group: TabGroup | undefined
  /** Only with `resume` or `tabs`. */
  readonly resume: OptionalFeature<SessionResume> | undefined
  readonly session: ChatSession
  readonly policy: ReconnectPolicy
  readonly connection: Connection
  readonly chat: Chat
  readonly liveness: Liveness
  readonly outbox: Outbox
  /** Only with `persistQueue`. */
  readonly queue: OptionalFeature<QueueStore | undefined> | undefined
  readonly processor: MessageProcessor
  /** Created by the first {@link openStream}. */
  streams: MessageStreams | undefined
  readonly working: WorkingState
  readonly recovery: Recovery
  readonly inbox: Inbox
  /** Removes everything of the user, and emits `userChanged`. */
  readonly handleUserChange: () => Promise<void>

  constructor(scope: AgentScope, handleUserChange: () => Promise<void>) {
    const { config, environment, logger } = scope
    this.scope = scope
    this.handleUserChange = handleUserChange
    const ofAuthentication = { environment, endpoint: config.endpoint, logger, onUserChange: handleUserChange }
    this.authentication = new AuthenticationService(config.auth, ofAuthentication, scope)
    const reloadRules = () => this.start.reloadMissingRules()
    this.masking = new Masking(config.masking, reloadRules)
    this.log = new MessageLog(config.transcript, scope)
    this.context = new ContextStore(scope)
    this.contextRestored = this.context.restore()
    this.start = new Start(scope, this)
    this.tabs = this.#createTabs()
    this.resume = this.#createResume()
    this.session = new ChatSession(scope, this.context, this.log, this.resume)
    this.policy = new ReconnectPolicy(config, environment)
    this.connection = new Connection(scope, this.policy, this)
    this.connection.observe({ handleConnected: reloadRules })
    this.chat = new Chat(scope, this)
    this.liveness = new Liveness(scope, this.connection, this.session)
    this.outbox = new Outbox(scope, this)
    this.queue = this.#createStoredQueue()
    this.processor = new MessageProcessor(this.chat)
    this.working = new WorkingState(scope, this.connection)
    this.recovery = new Recovery(scope, this)
    this.inbox = new Inbox(scope, this)

    // The order of a sign-out.
    if (this.tabs) scope.own({ forgetUser: () => this.group?.forgetUser() })
    scope.own(this.log)
    scope.own(this.context)
    scope.own(this.session)
    scope.own(this.outbox)
    scope.own(this.start)
    if (this.resume) scope.own({ forgetUser: () => this.#forgetSession() })
    scope.own(this)
    for (const warning of config.warnings) scope.warnOnce(warning)
  }

  // ── Features whose code loads on demand ───────────────────────────────────────────────────────────────────────────

  #optional<Part>(name: string, load: () => Promise<Part>): OptionalFeature<Part> {
    const { environment, logger } = this.scope
    return optionalFeature(environment.clock, name, load, (message, details) => logger.warn(message, details))
  }

  /** Shares the conversation with other tabs, with `tabs`. */
  #createTabs(): OptionalFeature<TabGroup | undefined> | undefined {
    if (!this.scope.config.tabs) return undefined
    return this.#optional('tabs', async () => {
      const createTabGroup = await features.tabs()
      this.group = this.scope.shared = await createTabGroup(this)
      return this.group
    })
  }

  /** Resumes the session of the previous page, with `resume` and without a session of the host. */
  #createResume(): OptionalFeature<SessionResume> | undefined {
    const { scope, tabs } = this
    const { config } = scope
    if ((!config.resume && !tabs) || config.sessionId !== undefined) return undefined
    return this.#optional('resume', async () => {
      const SessionResume = await features.resume()
      // The tabs come before what this tab has stored.
      await tabs?.(() => {})
      return new SessionResume(scope, this)
    })
  }

  /** Stores the queue for the next page, with `persistQueue`. */
  #createStoredQueue(): OptionalFeature<QueueStore | undefined> | undefined {
    const { scope, tabs } = this
    if (scope.config.persistQueueMs === undefined) return undefined
    return this.#optional('persistQueue', async () => {
      const { createStoredQueue } = await features.persistQueue()
      const group = await tabs?.(each => each)
      return createStoredQueue(scope, this, group?.id)
    })
  }

  /** The messages from now on. They end with the signal too. */
  openStream(signal: AbortSignal | undefined): AsyncIterableIterator<Message> {
    this.streams ??= this.scope.own(new MessageStreams())
    return this.streams.open(signal)
  }

  // ── The end of a conversation, and of the user's data ──────────────────────────────────────────────────────────────────

  /** Drops the messages in both directions, and the transcript. */
  dropConversation(): void {
    this.outbox.leaveConversation()
    this.inbox.clear()
    this.recovery.clear()
    this.log.clear()
    this.group?.handleDropped()
  }

  /** The previous page may have left a session that this one has not looked up. */
  #forgetSession(): unknown {
    const user = storedUser(this.scope, this.authentication, this.authentication.leavingToken)
    return this.resume?.(part => part.forgetUser(user))
  }

  /** Drops the frames in progress, and everything that is stored: of the deployment in a page, elsewhere of the user. */
  async forgetUser(cause: SignOutCause): Promise<void> {
    this.working.end()
    this.recovery.clear()
    this.inbox.clear()
    const { facts, environment, config } = this.scope
    const { deployment, api } = facts.deployment ?? {}
    const token = this.authentication.leavingToken
    const user = storedUser(this.scope, this.authentication, token)
    const readers = api?.takeUsers() ?? new Set()
    const isKept = environment.page ?? environment.sessionStorage ?? environment.localStorage ?? config.cache.adapter
    // The memory of a process has nothing else of an anonymous user.
    if (!isKept && readers.size === 0 && (user ?? ANONYMOUS) === ANONYMOUS) return
    if (token !== null) readers.add(subjectFingerprint(token))
    const { auth } = config
    const ofToken = auth && 'type' in auth && auth.type === 'anonymous' ? auth.config?.cache : undefined
    const removal = { cause, user, readers, info: deployment, ofToken }
    const clearStored = await feature(environment.clock, 'stored data', features.storedData)
    await clearStored(environment, config.endpoint, config.cache, removal)
  }
}
