import { type ResolvedConfig, resolveConfig } from '../check-config.ts'
import type { AiAgentConfig } from '../config.ts'
import type { AnySDKError, SDKError } from '../errors.ts'
import type { AgentEvents, AgentEventType, Emit } from '../events.ts'
import { AgentFacts } from '../facts.ts'
import { readInitParams } from '../init-params.ts'
import { createMessageIds } from '../log/compose.ts'
import { Logger } from '../logger.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { AgentScope } from '../scope.ts'
import { EventEmitter } from '../util/event-emitter.ts'
import { UserStateRegistry } from '../util/user-state.ts'

/** Checks the configuration and creates what the parts of an agent share. */
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

  const reportRateLimit: AgentScope['reportRateLimit'] = limit => {
    const isCall = 'operation' in limit
    if (isCall)
      logger.warn(`The service limits the rate of calls. ${limit.operation} is repeated in ${limit.retryInMs} ms.`)
    emit('rateLimited', () => (isCall ? { source: 'rest', ...limit } : { source: 'chat', ...limit }))
  }

  let warned: Set<string> | undefined
  const warnOnce = (warning: string) => {
    if (!warned?.has(warning)) logger.warn(warning)
    warned ??= new Set()
    warned.add(warning)
  }

  const userState = new UserStateRegistry()
  userState.own(facts)
  return {
    config,
    params: readInitParams(config.initParams),
    environment,
    logger,
    facts,
    status: { isReady: false, isLeaving: false },
    events,
    emit,
    reportError,
    reportRateLimit,
    warnOnce,
    userState,
    newId: createMessageIds(environment),
  }
}

function createLogger(config: ResolvedConfig, environment: Environment, facts: AgentFacts): Logger {
  const contextProvider = () => ({ sessionId: facts.sessionId, agentId: facts.agentId })
  return new Logger(
    { name: `AiAgent:${config.id}`, level: config.logLevel, enableConsole: config.enableLogging, contextProvider },
    { console: environment.console, now: environment.clock.now },
  )
}
