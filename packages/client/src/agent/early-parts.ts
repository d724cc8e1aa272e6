import type { DeploymentCall } from '../api/deployment-info.ts'
import { LanguageChoice } from '../api/language-choice.ts'
import { checkAuthInput } from '../auth/check-auth.ts'
import { createReconnectPolicy } from '../chat/reconnect-policy.ts'
import { type ContextAttributes, ContextStore, type ContextStoreOptions } from '../conversation/context-store.ts'
import type { TokenRefreshHandlerOptions } from '../conversation/handlers/token-refresh-handler.ts'
import { MessageProcessor } from '../conversation/message-processor.ts'
import { MessageStreams } from '../conversation/message-streams.ts'
import { Masking } from '../masking/masking.ts'
import { MessageIds } from '../outbox/compose.ts'
import { MessageOrigin } from '../outbox/message.ts'
import { Outbox } from '../outbox/outbox.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { resolveOwnAdapter } from '../storage/create-cache-adapter.ts'
import type { UserState } from '../util/user-state.ts'
import { AgentLoader } from './agent-loader.ts'
import type { CallHolder, ConversationOwner, EarlyParts, Late, LateParts } from './agent-parts.ts'
import type { AgentScope } from './agent-scope.ts'
import { InitializeRetry } from './initialize-retry.ts'
import { loadedStart, loadStart } from './load-start.ts'
import { OutboxWiring } from './outbox-wiring.ts'

/** Constructs what an agent has at once, each part after the parts that it uses, and starts to load the others. */
export function createEarlyParts(scope: AgentScope): EarlyParts {
  const { config, environment, facts, userState } = scope
  checkAuthInput(config.auth, environment.page !== undefined)
  facts.sessionId = config.sessionId

  const late = new LateHolder()
  const ownLate = (turn: LateTurn) => userState.own(new LateState(scope, late, turn))
  ownLate(TABS)
  const language = new LanguageChoice()
  const loader = new AgentLoader({ scope, late })
  const masking = new Masking(config.masking)
  const ids = new MessageIds(environment)
  ownLate(TRANSCRIPT)
  const context = userState.own(new ContextStore(new ContextWiring(scope, late)))
  const contextRestored = context.restore()
  const calls: CallHolder = { state: undefined }
  ownLate(SESSION)
  const policy = createReconnectPolicy(config, environment)
  const origin = new MessageOrigin(environment.clock, facts)
  const outbox = userState.own(new Outbox(new OutboxWiring(scope, { masking, late, origin, ids })))
  const processor = new MessageProcessor(late)
  const streams = userState.own(new MessageStreams())
  const retry = new InitializeRetry(scope, policy, late)
  ownLate(STORED)
  const early: EarlyParts = {
    scope,
    loader,
    language,
    masking,
    context,
    contextRestored,
    origin,
    ids,
    outbox,
    streams,
    processor,
    calls,
    policy,
    retry,
    late,
  }
  late.start(early)
  ownLate(RESPONSES)
  for (const warning of config.warnings) scope.warnOnce(warning)
  return early
}

/** What one turn in the order of a sign-out removes: from the late parts, or before they are built. */
interface LateTurn {
  late(parts: LateParts, scope: AgentScope): unknown
  early?(scope: AgentScope, late: Late): unknown
}

/** Takes a turn in the order of a sign-out. */
class LateState implements UserState {
  readonly #scope: AgentScope
  readonly #late: Late
  readonly #turn: LateTurn

  constructor(scope: AgentScope, late: Late, turn: LateTurn) {
    this.#scope = scope
    this.#late = late
    this.#turn = turn
  }

  forgetUser(): unknown {
    const { parts } = this.#late
    return parts ? this.#turn.late(parts, this.#scope) : this.#turn.early?.(this.#scope, this.#late)
  }
}

const TABS: LateTurn = { late: ({ tabs }) => tabs?.forgetUser() }

const TRANSCRIPT: LateTurn = {
  late: ({ transcript }) => transcript.forgetUser(),
  early: ({ emit }) => emit('transcriptCleared', () => ({})),
}

const SESSION: LateTurn = {
  late: ({ session }) => session.forgetUser(),
  early: ({ facts }) => {
    facts.sessionId = undefined
  },
}

/** What an earlier page has stored must go, although its parts are not there yet. */
const STORED: LateTurn = {
  late: () => {},
  early: ({ config }, late) =>
    (config.resume || config.tabs || config.persistQueueMs !== undefined) &&
    late.load().then(parts => parts.forgetStored()),
}

const RESPONSES: LateTurn = {
  late: ({ authentication }, scope) => forgetResponses(scope, authentication.getCachedToken() ?? undefined),
  early: scope => forgetResponses(scope, undefined),
}

function forgetResponses({ facts, environment, config }: AgentScope, token: string | undefined): unknown {
  if (facts.deployment) return facts.deployment.api.clearUserCache(token)
  if (!environment.sessionStorage && !environment.localStorage) return
  // Before the first run only the stores know what belongs to the user.
  const options = { endpoint: config.endpoint, cache: config.cache, withSignIn: false }
  return import('./clear-stored-data.ts').then(module => module.clearStoredData(environment, options))
}

/** Connects the context with its store, and with the other tabs. */
class ContextWiring implements ContextStoreOptions {
  readonly #scope: AgentScope
  readonly #late: Late
  readonly adapter: CacheAdapter

  constructor(scope: AgentScope, late: Late) {
    this.#scope = scope
    this.#late = late
    const { config, environment, logger } = scope
    this.adapter = resolveOwnAdapter(config.cache, environment, (...warning) => logger.warn(...warning))
  }

  get agentId(): string {
    return this.#scope.config.id
  }

  get endpoint(): string {
    return this.#scope.config.endpoint
  }

  get keyPrefix(): string | undefined {
    const { cache } = this.#scope.config
    return cache.contextPrefix ?? cache.keyPrefix
  }

  now(): number {
    return this.#scope.environment.clock.now()
  }

  onFailure(error: unknown): void {
    this.#scope.logger.warn('The store of the context failed; it is kept in memory only.', { error })
  }

  onChange(changed: ContextAttributes | null): void {
    this.#late.parts?.tabs?.group?.handleContext(changed)
  }
}

class LateHolder implements Late, TokenRefreshHandlerOptions {
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

  /** The service requests another token. */
  onRefreshRequired(expired: boolean): void {
    this.parts?.chat.renewToken(expired)
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
