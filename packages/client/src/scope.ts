import type { ConnectionState } from './chat/connection-state.ts'
import type { Transport, TransportListener } from './chat/transport.ts'
import { type ResolvedConfig, resolveConfig } from './check-config.ts'
import type { AiAgentConfig } from './config.ts'
import type { AnySDKError, SDKError } from './errors.ts'
import type { AgentEventPayloadMap, AgentEvents, AgentEventType, ChatClosed } from './events.ts'
import { AgentFacts } from './facts.ts'
import { type KnownInitParams, readInitParams } from './init-params.ts'
import type { DeliveryRecord, DeliveryUpdate } from './log/delivery.ts'
import type { Message } from './log/message.ts'
import { Logger } from './logger.ts'
import type { Environment } from './platform/environment.ts'
import { EventEmitter } from './util/event-emitter.ts'

/** What several parts of an agent write and read. */
export interface SharedState {
  /** The state of the connection, as the host sees it: while `initialize()` is repeated, the one of that. */
  state: ConnectionState
  /** Whether messages can be addressed and masked. */
  isReady: boolean
  /** Whether `initialize()` runs or has completed. */
  isStarted?: boolean
  /** Whether the user is being signed out. */
  isLeaving: boolean
  /** How the last open chat was closed, until the next one opens. */
  closed?: ChatClosed | undefined
  /** Why the last attempt failed, until one succeeds. */
  failure?: SDKError | undefined
  /** When the next attempt follows, on the monotonic clock. */
  retryAt?: number | undefined
  /** Whether this run of `initialize()` may ask the user to sign in. */
  isInteractive?: boolean
  /** The waits of `initialize()`, while it is repeated. */
  retry?: { readonly attempts: number; hurry(): void } | undefined
}

/** Why everything of a user is discarded: a logout, or another user of the agent. */
export type SignOutCause = 'logout' | 'user'

/** State that belongs to the signed-in user. */
export interface UserState {
  /**
   * Discards it: the part in memory before this returns. Returns a promise if a stored part takes longer. Requests in
   * flight for this user have no effect afterwards.
   */
  forgetUser(cause: SignOutCause): unknown
}

/** Ids made from one random UUID. */
const IDS_PER_UUID = 0x10000

const HEX = /* @__PURE__ */ Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** What every part of one agent is constructed with. A part names the events that it emits. */
export class AgentScope<Emitted extends AgentEventType = AgentEventType> {
  readonly config: ResolvedConfig
  /** The known parameters of `config.initParams`. */
  readonly params: KnownInitParams
  readonly environment: Environment
  readonly logger: Logger
  readonly facts: AgentFacts
  readonly status: SharedState = { state: 'IDLE', isReady: false, isLeaving: false }
  readonly events = new EventEmitter<AgentEvents>((error, name) =>
    this.logger.error(`A listener of '${name}' failed.`, error),
  )
  /** The conversation that the tabs of the page's origin share, with `tabs: 'share'`, once its code has loaded. */
  shared: SharedConversation | undefined
  /** Everything that belongs to the signed-in user, in the order of a sign-out. */
  #userState: readonly UserState[]
  #reported: WeakSet<SDKError> | undefined
  #warned: Set<string> | undefined
  /** The part that ids share. */
  #idHead = ''
  /** The head with two of the four digits: an id is joined of two parts only. */
  #idBlock = ''
  #idCount = IDS_PER_UUID

  /** Checks the configuration. @throws what `new AiAgent()` throws */
  constructor(given: AiAgentConfig, environment: Environment) {
    const config = resolveConfig(given)
    const facts = new AgentFacts(config.id)
    this.environment = environment
    this.config = config
    this.params = readInitParams(config.initParams)
    this.facts = facts
    this.logger = config.logger ?? createLogger(config, environment, facts)
    this.#userState = [facts]
  }

  /** Registers what belongs to the signed-in user, and returns it. A part does so when it is created. */
  own<Part extends UserState>(part: Part): Part {
    // An array that grows by push() reserves sixteen more places.
    this.#userState = this.#userState.concat(part)
    return part
  }

  /**
   * Discards everything of the signed-in user: what is in memory before this returns. Resolves when it is removed from the stores
   * too, and where that failed, with an entry in the log.
   */
  async forgetUser(cause: SignOutCause): Promise<void> {
    // All parts start at once; an async function turns a synchronous error into a rejection.
    const removals = this.#userState.map(async part => part.forgetUser(cause))
    await Promise.all(removals.map(removal => removal.catch(error => this.reportLeft(error))))
  }

  /** Logs that stored data could not be removed. */
  reportLeft(error: unknown): void {
    this.logger.error('Could not remove stored data of the user. It stays until it expires.', error)
  }

  /**
   * A new id of a message or an entry: UUIDs of which 65,536 in a row share all but the last four digits, because a random UUID
   * for each costs half as much as encoding a short message. They are unique, not secret: an id identifies a message for the
   * host that sent it and is not sent.
   */
  newId(): string {
    if (this.#idCount === IDS_PER_UUID) {
      this.#idHead = this.environment.randomUUID().slice(0, -4)
      this.#idCount = 0
    }
    if ((this.#idCount & 0xff) === 0) this.#idBlock = `${this.#idHead}${HEX[this.#idCount >> 8]}`
    return `${this.#idBlock}${HEX[this.#idCount++ & 0xff]}`
  }

  /** Emits an event. The payload is built only when the event has a listener. */
  emit<Type extends Emitted>(type: Type, payload: () => AgentEventPayloadMap[Type]): void {
    const { events } = this
    if (events.listenerCount(type) === 0) return
    const { sessionId, agentId } = this.facts
    const timestamp = this.environment.clock.now()
    // Two literals: this runs for every frame, and spreading one of them into the other is slow.
    const event =
      sessionId === undefined
        ? { type, timestamp, agentId, payload: payload() }
        : { type, timestamp, sessionId, agentId, payload: payload() }
    events.emit(type, event as AgentEvents[Type])
  }

  /**
   * Emits `error` and logs a warning, once for each error object: several callers may wait for the operation that failed.
   *
   * @param remedy follows the message in the log; with false nothing is logged
   */
  reportError(error: SDKError, remedy: string | false = ''): void {
    if (this.hasReported(error)) return
    this.#reported ??= new WeakSet()
    this.#reported.add(error)
    if (remedy !== false) this.logger.warn(error.message + remedy, { code: error.code })
    ;(this as AgentScope).emit('error', () => ({ error: error as AnySDKError }))
  }

  /** Whether {@link reportError} has reported an error. */
  hasReported(error: unknown): boolean {
    return this.#reported?.has(error as SDKError) === true
  }

  /** Emits `rateLimited`, for a REST call or for a message, and logs a warning about a call. Parts pass it on as a callback. */
  readonly reportRateLimit = (limit: { operation: string; retryInMs: number } | { message: Message }): void => {
    const isCall = 'operation' in limit
    if (isCall)
      this.logger.warn(`The service limits the rate of calls. ${limit.operation} is repeated in ${limit.retryInMs} ms.`)
    const agent = this as AgentScope
    agent.emit('rateLimited', () => (isCall ? { source: 'rest', ...limit } : { source: 'chat', ...limit }))
  }

  /** Logs a warning once. */
  warnOnce(warning: string): void {
    if (!this.#warned?.has(warning)) this.logger.warn(warning)
    this.#warned ??= new Set()
    this.#warned.add(warning)
  }
}

function createLogger(config: ResolvedConfig, environment: Environment, facts: AgentFacts): Logger {
  const contextProvider = () => ({ sessionId: facts.sessionId, agentId: facts.agentId })
  return new Logger(
    { name: `AiAgent:${config.id}`, level: config.logLevel, enableConsole: config.enableLogging, contextProvider },
    { console: environment.console, now: environment.clock.now },
  )
}

/** The conversation that several tabs share, as the parts below it use it: its code loads with `tabs: 'share'` only. */
export interface SharedConversation {
  /** Opens the socket of the tabs; undefined while this tab shares none. */
  open(address: string, listener: TransportListener): Transport | undefined
  /** Whether another tab has the socket, and renews the token. */
  readonly isFollower: boolean
  /** Whether another tab sends what this one leaves unsent. */
  readonly isJoined: boolean
  /** The session of all tabs: the first one restores or creates it, the others use it. */
  readonly session: {
    /**
     * Joins the tabs with this key. Resolves with their session, else with what this tab has stored, unless that was taken out of
     * the conversation; undefined for the first tab, which creates one.
     */
    take(key: string, takeOwn: () => Promise<string | undefined>): Promise<string | undefined>
    /** This tab uses a session. */
    use(sessionId: string): void
    /** The session is no longer used. */
    drop(): void
    /** The agent was destroyed. */
    end(): void
  }
  /** Admits one question at a time in all tabs. */
  readonly turn: {
    /** Whether a question may be sent now. If not, `offered` is called when it may. */
    take(offered: () => void): boolean
    /** Takes the turn for a question that was started before this tab joined the others; false where another tab has it. */
    claim(): Promise<boolean>
    /** The question has its answer, or was given up. */
    end(): void
  }
  /** The messages of the other tabs. */
  readonly replica: {
    /** Compares the messages of all tabs with a history. */
    handleHistory(history: readonly Message[]): void
    /** Asks the tab that has sent a message to repeat or withdraw it. Returns whether that is possible. */
    act(record: DeliveryRecord, action: 'retry' | 'cancel'): boolean
  }
  /** The delivery of a message of this tab has changed. */
  handleUpdate(update: DeliveryUpdate): void
  /** A message of this tab has been accepted: written, or queued for the connection. */
  handleAccepted(record: DeliveryRecord): void
  /** The context has changed; null when it was removed. */
  handleContext(changed: Readonly<Record<string, unknown>> | null): void
  /** Awaited before the token of a user is used in place of an anonymous one. */
  handleUser(): Promise<void>
  /** The agent has a token of the user. */
  handleToken(token: string): void
}
