import { AgentFacts } from '../api/agent-facts.ts'
import type { ApiHelperConfig } from '../api/api-options.ts'
import type { ChatClosed } from '../chat/close-cause.ts'
import { type ResolvedConfig, resolveConfig } from '../check-config.ts'
import type { AiAgentConfig } from '../config.ts'
import type { AnySDKError, SDKError } from '../errors.ts'
import type { AgentEvents, AgentEventType, Emit } from '../events.ts'
import { type KnownInitParams, readInitParams } from '../init-params.ts'
import { Logger } from '../logger.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { EventEmitter } from '../util/event-emitter.ts'
import { UserStateRegistry } from '../util/user-state.ts'

/** What several parts write and read. */
export interface AgentStatus {
  /** Whether messages can be addressed and masked. */
  isReady: boolean
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
  /** Number of the next attempt of `initialize()`. */
  attempt?: number | undefined
}

/** What the parts of one agent share. A part declares the members it uses; its `emit` admits only its own events. */
export interface AgentScope {
  readonly config: ResolvedConfig
  /** The known parameters of `config.initParams`. */
  readonly params: KnownInitParams
  readonly environment: Environment
  readonly logger: Logger
  readonly facts: AgentFacts
  /** Whether messages can be addressed and masked, and whether the user is being signed out. Written by the lifecycle. */
  readonly status: AgentStatus
  readonly events: EventEmitter<AgentEvents>
  readonly emit: Emit<AgentEventType>
  /** Emits `error` and logs a warning, once for each error object. */
  readonly reportError: (error: SDKError) => void
  /** Logs a warning once. */
  readonly warnOnce: (warning: string) => void
  /** Where a part registers what belongs to the signed-in user. */
  readonly userState: UserStateRegistry
}

/** Checks the configuration and creates what the parts share. */
export function createAgentScope(given: AiAgentConfig, replacements: Partial<Environment> | undefined): AgentScope {
  const environment = resolveEnvironment(replacements)
  const config = resolveConfig(given)
  const facts = new AgentFacts(config.id)
  const logger = config.logger ?? createLogger(config, environment, facts)
  const events = new EventEmitter<AgentEvents>((error, name) => logger.error(`A listener of '${name}' failed.`, error))

  const emit: Emit<AgentEventType> = (type, payload) => {
    if (events.listenerCount(type) === 0) return
    const { sessionId, agentId } = facts
    const timestamp = environment.clock.now()
    // Two literals: this runs for every frame, and spreading one of them into the other is slow.
    const event =
      sessionId === undefined
        ? { type, timestamp, agentId, payload: payload() }
        : { type, timestamp, sessionId, agentId, payload: payload() }
    events.emit(type, event as AgentEvents[typeof type])
  }

  // Several callers may wait for the operation that failed, and each reports it.
  let reported: WeakSet<SDKError> | undefined
  const reportError = (error: SDKError) => {
    if (reported?.has(error)) return
    reported ??= new WeakSet()
    reported.add(error)
    logger.warn(error.message, { code: error.code })
    emit('error', () => ({ error: error as AnySDKError }))
  }

  let warned: Set<string> | undefined
  const warnOnce = (warning: string) => {
    if (!warned?.has(warning)) logger.warn(warning)
    warned ??= new Set()
    warned.add(warning)
  }

  const userState = new UserStateRegistry()
  userState.own(facts)
  const params = readInitParams(config.initParams)
  const status = { isReady: false, isLeaving: false }
  return { config, params, environment, logger, facts, status, events, emit, reportError, warnOnce, userState }
}

/** Reports that the service limits the rate of a REST call. */
export function rateLimitReporter({ emit, logger }: AgentScope): NonNullable<ApiHelperConfig['onRateLimited']> {
  return limit => {
    logger.warn(`The service limits the rate of calls. ${limit.operation} is repeated in ${limit.retryInMs} ms.`)
    emit('rateLimited', () => ({ source: 'rest', ...limit }))
  }
}

function createLogger(config: ResolvedConfig, environment: Environment, facts: AgentFacts): Logger {
  const contextProvider = () => ({ sessionId: facts.sessionId, agentId: facts.agentId })
  return new Logger(
    { name: `AiAgent:${config.id}`, level: config.logLevel, enableConsole: config.enableLogging, contextProvider },
    { console: environment.console, now: environment.clock.now },
  )
}
