import type { DeploymentCall } from '../api/deployment-info.ts'
import { LanguageChoice } from '../api/language-choice.ts'
import { checkAuthInput } from '../auth/check-auth.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import { createReconnectPolicy } from '../chat/reconnect-policy.ts'
import { ContextStore } from '../conversation/context-store.ts'
import { MessageProcessor } from '../conversation/message-processor.ts'
import { MessageStreams } from '../conversation/message-streams.ts'
import { Masking } from '../masking/masking.ts'
import { createMessageIds } from '../outbox/compose.ts'
import { MessageOrigin } from '../outbox/message.ts'
import { Outbox } from '../outbox/outbox.ts'
import { resolveOwnAdapter } from '../storage/create-cache-adapter.ts'
import { AgentLoader } from './agent-loader.ts'
import type { CallHolder, ConversationOwner, EarlyParts, Late, LateParts } from './agent-parts.ts'
import type { AgentScope } from './agent-scope.ts'
import { InitializeRetry } from './initialize-retry.ts'
import { loadedStart, loadStart } from './load-start.ts'
import { OutboxWiring } from './outbox-wiring.ts'

/** Constructs what an agent has at once, each part after the parts that it uses, and starts to load the others. */
export function createEarlyParts(scope: AgentScope): EarlyParts {
  const { config, environment, facts, logger, emit, userState, status } = scope
  const { clock } = environment
  checkAuthInput(config.auth, environment.page !== undefined)
  facts.sessionId = config.sessionId

  const late = new LateHolder()
  const tabs = () => late.parts?.tabs?.group
  /** A late part whose turn in the order of a sign-out is here. */
  const ownLate = (forget: (parts: LateParts) => unknown, early?: () => unknown) =>
    userState.own({ forgetUser: () => (late.parts ? forget(late.parts) : early?.()) })
  ownLate(({ tabs }) => tabs?.forgetUser())
  const language = new LanguageChoice()
  const loader = new AgentLoader({ scope, late })
  const masking = new Masking(config.masking)
  const newId = createMessageIds(() => environment.randomUUID())
  ownLate(
    ({ transcript }) => transcript.forgetUser(),
    () => emit('transcriptCleared', () => ({})),
  )
  const context = userState.own(
    new ContextStore({
      adapter: resolveOwnAdapter(config.cache, environment, (...warning) => logger.warn(...warning)),
      agentId: config.id,
      endpoint: config.endpoint,
      keyPrefix: config.cache.contextPrefix ?? config.cache.keyPrefix,
      now: clock.now,
      onFailure: error => logger.warn('The store of the context failed; it is kept in memory only.', { error }),
      onChange: changed => tabs()?.handleContext(changed),
    }),
  )
  const contextRestored = context.restore()
  const calls: CallHolder = { state: undefined }
  ownLate(
    ({ session }) => session.forgetUser(),
    () => {
      facts.sessionId = undefined
    },
  )
  const { maxReconnectAttempts, baseReconnectDelay, maxReconnectDelay } = config
  const { random } = environment
  const policy = createReconnectPolicy({ maxReconnectAttempts, baseReconnectDelay, maxReconnectDelay, random })
  const origin = new MessageOrigin(clock, facts)
  const outbox = userState.own(new Outbox(new OutboxWiring(scope, { masking, late, origin, newId })))
  const processor = new MessageProcessor({ onRefreshRequired: expired => late.parts?.chat.renewToken(expired) })
  const streams = userState.own(new MessageStreams())
  const retry = new InitializeRetry(scope, policy, () => late.parts?.chat.state ?? ConnectionState.IDLE)
  // What an earlier page has stored must go, although its parts are not there yet.
  ownLate(
    () => {},
    () =>
      (config.resume || config.tabs || config.persistQueueMs !== undefined) &&
      late.load().then(parts => parts.forgetStored()),
  )
  const early: EarlyParts = {
    scope,
    loader,
    language,
    masking,
    context,
    contextRestored,
    origin,
    newId,
    outbox,
    streams,
    processor,
    calls,
    policy,
    retry,
    late,
  }
  late.start(early)
  userState.own({
    forgetUser: () => {
      const token = late.parts?.authentication.getCachedToken() ?? undefined
      if (facts.deployment) return facts.deployment.api.clearUserCache(token)
      if (!environment.sessionStorage && !environment.localStorage) return
      // Before the first run only the stores know what belongs to the user.
      const options = { endpoint: config.endpoint, cache: config.cache, withSignIn: false }
      return import('./clear-stored-data.ts').then(module => module.clearStoredData(environment, options))
    },
  })
  for (const warning of config.warnings) scope.warnOnce(warning)
  return early
}

class LateHolder implements Late {
  parts: LateParts | undefined
  lifecycle: ConversationOwner | undefined
  #early: EarlyParts | undefined
  #loading: Promise<LateParts> | undefined
  #stop: ((reason: unknown) => void) | undefined
  #ended: { readonly reason: unknown } | undefined

  get deploymentCall(): DeploymentCall | (() => Promise<DeploymentCall>) {
    return loadedStart()?.deploymentCall ?? (async () => (await loadStart()).deploymentCall)
  }

  /** Builds the parts at once when another agent has loaded their code. */
  start(early: EarlyParts): void {
    this.#early = early
    this.parts = loadedStart()?.buildAgent(early)
    // A failure is reported by the first call that needs them.
    if (!this.parts) this.load().catch(() => {})
  }

  async load(): Promise<LateParts> {
    if (this.parts) return this.parts
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  end(reason: unknown): void {
    this.#ended = { reason }
    this.#stop?.(reason)
  }

  async #load(): Promise<LateParts> {
    if (this.#ended) throw this.#ended.reason
    const stopped = new Promise<never>((_, reject) => {
      this.#stop = reject
    })
    const { buildAgent } = await Promise.race([loadStart(), stopped])
    this.parts ??= buildAgent(this.#early as EarlyParts)
    return this.parts
  }
}
