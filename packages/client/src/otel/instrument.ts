import { agentDisplayName, restBase } from '@aiagent/protocol'
import type { AiAgent } from '../ai-agent.ts'
import type { AgentEvent } from '../events.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import { sha256 } from '../util/sha256.ts'
import { VERSION } from '../version.ts'
import { ATTRIBUTE, KIND, METRIC, NAME, STATUS_ERROR } from './names.ts'
import {
  type Attributes,
  contextOf,
  type SpanIdentity,
  type TelemetryContext,
  type TelemetryLogger,
  type TelemetryMeter,
  type TelemetrySpan,
  type TelemetryTracer,
} from './telemetry-types.ts'
import type { TracedCalls } from './trace-calls.ts'
import { Turns } from './turns.ts'

/** Options of `instrument()`. */
export interface InstrumentOptions {
  /** Makes the spans. */
  tracer: TelemetryTracer
  /** Makes the metrics. @default none */
  meter?: TelemetryMeter
  /** Receives ratings of the user as events. @default none */
  logger?: TelemetryLogger
  /** The traced `fetch` of the agent: its spans become children of `aiagent.initialize`. */
  calls?: TracedCalls
  /** The context of the host in which the spans are made, such as `() => context.active()`. @default none */
  parentContext?: () => TelemetryContext
  /** Value of `gen_ai.provider.name`. @default 'aiagent' */
  provider?: string
  /**
   * Value of `gen_ai.conversation.id`. It must not be the session id, which is a credential.
   *
   * @default a fingerprint of the session id with a salt that is not kept
   */
  conversationId?: (sessionId: string) => string
  /** Adds the texts of user and agent, masked as they were sent. They may contain personal data. @default false */
  content?: boolean
}

/** A running instrumentation. */
export interface Instrumentation {
  /** Ends the open spans and removes all listeners. `destroy()` of the agent does it as well. */
  stop(): void
}

/**
 * Reports what an agent does to OpenTelemetry: a span for each run of `initialize()`, each connection attempt and each turn, with
 * the conventions for generative AI. No content, no session id and no token, unless the host asks for content.
 */
export function instrument(agent: AiAgent, options: InstrumentOptions): Instrumentation {
  const { tracer, meter, logger, calls, provider = 'aiagent', content = false } = options
  const salt = defaultEnvironment().randomUUID()
  const identify = options.conversationId ?? (id => sha256(`${salt} ${id}`).slice(0, 16))
  const common: Attributes = { [ATTRIBUTE.PROVIDER]: provider, [ATTRIBUTE.LIBRARY]: VERSION }
  const base = () => options.parentContext?.()
  const ended = new AbortController()
  const { signal } = ended
  const reconnects = meter?.createCounter(...METRIC.RECONNECTS)
  let initializing: TelemetrySpan | undefined
  let connecting: TelemetrySpan | undefined
  let lost: SpanIdentity | undefined
  let attempt = 0
  let lastError = ''

  const start = (name: string, kind: number, event: { timestamp: number }, links?: { context: SpanIdentity }[]) =>
    tracer.startSpan(
      name,
      { kind, attributes: { ...common }, startTime: new Date(event.timestamp), ...(links && { links }) },
      base(),
    )
  const turns = new Turns({
    agent,
    start: (event, attributes) =>
      tracer.startSpan(
        turnName(common),
        { kind: KIND.CLIENT, attributes: { ...common, ...attributes }, startTime: new Date(event.timestamp) },
        base(),
      ),
    meter,
    logger,
    content,
    common,
    base,
    conversationOf: sessionId => (sessionId === undefined ? undefined : identify(sessionId)),
  })

  const endInitialize = (event: { timestamp: number }, error?: unknown) => {
    if (error !== undefined) fail(initializing, codeOf(error))
    initializing?.end(new Date(event.timestamp))
    initializing = undefined
    if (calls) calls.parent = base()
  }
  const endConnect = (event: { timestamp: number }, error?: string) => {
    if (error !== undefined) fail(connecting, error)
    connecting?.end(new Date(event.timestamp))
    connecting = undefined
  }

  const onPhase = (event: AgentEvent<'phaseChanged'>) => {
    const { at } = event.payload
    if (at === 'preparing') {
      initializing ??= start(NAME.INITIALIZE, KIND.INTERNAL, event)
      if (calls) calls.parent = contextOf(initializing, base())
      return
    }
    if (at === 'choosing' || at === 'ready') initializing?.setAttribute(ATTRIBUTE.PHASE, at)
    endInitialize(event, event.payload.at === 'idle' ? event.payload.error : undefined)
    if (at === 'destroyed') stop(event)
  }
  const onState = (event: AgentEvent<'stateChanged'>) => {
    const { state, previousState, retryInMs } = event.payload
    if (state === 'CONNECTING') {
      attempt++
      if (previousState === 'RECONNECTING') reconnects?.add(1)
      connecting = start(NAME.CONNECT, KIND.CLIENT, event, lost && [{ context: lost }])
      connecting.setAttribute(ATTRIBUTE.ATTEMPT, attempt)
    } else if (state === 'CONNECTED') {
      endConnect(event)
      attempt = 0
      lost = undefined
    } else {
      if (retryInMs !== undefined) connecting?.setAttribute(ATTRIBUTE.RETRY_IN, retryInMs)
      endConnect(event, lastError || 'closed')
    }
  }
  const onClosed = (event: AgentEvent<'closed'>) => {
    const { code, cause, retryInMs, willReconnect } = event.payload
    const span = start(NAME.LOST, KIND.INTERNAL, event)
    span.setAttribute(ATTRIBUTE.CLOSE_CODE, code)
    span.setAttribute(ATTRIBUTE.CLOSE_CAUSE, cause)
    if (retryInMs !== undefined) span.setAttribute(ATTRIBUTE.RETRY_IN, retryInMs)
    if (willReconnect) fail(span, cause)
    lost = willReconnect ? span.spanContext() : undefined
    span.end(new Date(event.timestamp))
  }
  const onInitialized = (event: AgentEvent<'initialized'>) => {
    const { agent: details } = event.payload
    const { agentId } = event
    if (agentId !== undefined) common[ATTRIBUTE.AGENT_ID] = agentId
    const name = details && agentDisplayName(details)
    if (name) common[ATTRIBUTE.AGENT_NAME] = name
    turns.describe(turnName(common))
    // Known by now: no request is sent.
    agent.getDeploymentInfo().then(
      ({ apiDomain, version }) => {
        const { hostname, port, protocol } = new URL(restBase(apiDomain))
        common[ATTRIBUTE.ADDRESS] = hostname
        common[ATTRIBUTE.PORT] = Number(port) || (protocol === 'https:' ? 443 : 80)
        if (version) common[ATTRIBUTE.AGENT_VERSION] = version
      },
      () => {},
    )
  }
  const stop = (event?: { timestamp: number }) => {
    if (signal.aborted) return
    const at = event ?? { timestamp: defaultEnvironment().clock.now() }
    ended.abort()
    endInitialize(at)
    endConnect(at)
    turns.end(at, 'destroyed')
  }

  agent.on('phaseChanged', onPhase, { signal })
  agent.on('stateChanged', onState, { signal })
  agent.on('closed', onClosed, { signal })
  agent.on('initialized', onInitialized, { signal })
  agent.on('error', ({ payload: { error } }) => void (lastError = codeOf(error)), { signal })
  turns.listen()
  return { stop: () => stop() }
}

const turnName = (common: Attributes) => `${NAME.TURN} ${common[ATTRIBUTE.AGENT_NAME] ?? ''}`.trim()

/** Marks a span as failed. */
function fail(span: TelemetrySpan | undefined, type: string): void {
  span?.setAttribute(ATTRIBUTE.ERROR, type)
  span?.setStatus({ code: STATUS_ERROR })
}

/** The reason of an error, else its code; both are names of the library, never texts. */
function codeOf(error: unknown): string {
  const { reason, code, name } = Object(error) as { reason?: unknown; code?: unknown; name?: unknown }
  return [reason, code, name].find((each): each is string => typeof each === 'string') ?? 'error'
}
