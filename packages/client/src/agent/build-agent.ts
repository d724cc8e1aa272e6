import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import type { Deployment, LoadedAgent } from '../api/agent-facts.ts'
import type { LogoutOptions } from '../auth/auth-strategy.ts'
import type { AuthenticationServiceOptions } from '../auth/authentication-options.ts'
import { AuthenticationService } from '../auth/authentication-service.ts'
import { asAuthFailure } from '../auth/host-call.ts'
import { LazyPkceStrategy } from '../auth/sign-in/pkce-login.ts'
import type { StoredLogin } from '../auth/sign-in/stored-login.ts'
import { Chat } from '../chat/chat.ts'
import { ChatSession } from '../chat/chat-session.ts'
import type { ContactCenter } from '../contact-center/contact-center.ts'
import { Inbox } from '../conversation/inbox.ts'
import { Recovery } from '../conversation/recovery.ts'
import { Transcript } from '../conversation/transcript.ts'
import { WorkingState } from '../conversation/working-state.ts'
import type { Logger } from '../logger.ts'
import { Sending } from '../outbox/sending.ts'
import type { StoredQueue } from '../outbox/stored-queue.ts'
import type { Environment } from '../platform/environment.ts'
import type { SessionResume } from '../resume/session-resume.ts'
import { DATABASE } from '../storage/cache-adapter.ts'
import type { TabParts } from '../tabs/tab-parts.ts'
import { type LazyPart, lazyPart } from '../util/lazy-part.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
import type { EarlyParts, LateParts } from './agent-parts.ts'
import type { AgentScope } from './agent-scope.ts'
import { ChatWiring, loadTranscript, SessionWiring, sessionAddress } from './chat-wiring.ts'
import { InboxWiring, RecoveryWiring, TranscriptWiring } from './inbound-wiring.ts'
import { fetchAgent, openDeployment, prepareAgent } from './load-agent.ts'
import { SendingWiring } from './sending-wiring.ts'
import { SharedTabs } from './shared-tabs.ts'
import { UserLoader } from './user-loader.ts'

export { deploymentCall } from '../api/deployment-call.ts'

/** Constructs the parts of an agent that it needs to connect. */
export function buildAgent(early: EarlyParts): LateParts {
  return new BuiltAgent(early)
}

/** The parts that an agent needs to connect, each constructed after the parts that it uses. */
class BuiltAgent implements LateParts {
  readonly early: EarlyParts
  readonly authentication: AuthenticationService
  readonly tabs: SharedTabs | undefined
  readonly users: UserLoader
  readonly transcript: Transcript
  readonly session: ChatSession
  readonly chat: Chat
  readonly storedQueue: LazyPart<StoredQueue> | undefined
  readonly sending: Sending
  readonly resume: LazyPart<SessionResume> | undefined
  readonly working: WorkingState
  readonly recovery: Recovery
  readonly inbox: Inbox

  constructor(early: EarlyParts) {
    const { scope, masking, outbox, processor, origin } = early
    const { config, environment, facts, emit, userState } = scope
    this.early = early
    this.authentication = new AuthenticationService(config.auth, new AuthenticationWiring(scope))
    this.authentication.setTokenExpiringCallback(({ expiresAt }) =>
      emit('tokenExpiring', () => ({ reason: 'expiring', expiresAt })),
    )
    this.authentication.setTokenHandler(token => this.tabs?.group?.handleToken(token))
    this.authentication.setUserChangeHandler(() => early.late.lifecycle?.handleUserChange())
    this.tabs = config.tabs && new SharedTabs(scope, () => tabPartsOf(this))
    this.users = new UserLoader(scope, masking)
    this.transcript = new Transcript(config.transcript, new TranscriptWiring(early))
    this.resume = createResume(this)
    this.session = new ChatSession(new SessionWiring(early), this.resume)
    if (this.resume && facts.sessionId !== undefined) this.session.supply(facts.sessionId)
    this.chat = new Chat(new ChatWiring(this))
    this.storedQueue = createStoredQueue(this)
    this.sending = outbox.attach(new SendingWiring(this), (...given) => new Sending(...given))
    this.working = userState.own(new WorkingState(environment.clock, emit))
    this.recovery = userState.own(new Recovery(new RecoveryWiring(this)))
    this.inbox = userState.own(new Inbox(processor, origin, new InboxWiring(this), environment.clock))
  }

  prepare(
    openContactCenter: () => Promise<ContactCenter>,
    signal: AbortSignal,
  ): Promise<{ loaded: LoadedAgent; user: Promise<void> }> {
    const { scope, language, loader, context } = this.early
    const { authentication, users } = this
    // A failure leaves it to the next start.
    void sweepQueues(scope).catch(() => {})
    return prepareAgent({ scope, authentication, language, loader, context, users }, openContactCenter, signal)
  }

  openDeployment(deployment: DeploymentInfo): Deployment {
    return openDeployment(deployment, { ...this.early, authentication: this.authentication })
  }

  fetchAgent(deployment: Deployment, signal: AbortSignal): Promise<AgentDetails> {
    return fetchAgent(deployment, { ...this.early, authentication: this.authentication }, signal)
  }

  forgetStored(): Promise<unknown> {
    return Promise.all([
      this.resume?.(part => part.forgetUser(undefined)),
      this.storedQueue?.(part => part.forgetUser()),
    ])
  }

  endLogin({ input, session }: StoredLogin, options: LogoutOptions): Promise<void> {
    const { environment, logger } = this.early.scope
    return new LazyPkceStrategy(input, { environment, logger: logger.createChild('auth') })
      .logout(options, session)
      .catch(error => {
        throw asAuthFailure(error)
      })
  }
}

/** Connects the authentication with its agent. */
class AuthenticationWiring implements AuthenticationServiceOptions {
  readonly #scope: AgentScope

  constructor(scope: AgentScope) {
    this.#scope = scope
  }

  get environment(): Environment {
    return this.#scope.environment
  }

  get endpoint(): string {
    return this.#scope.config.endpoint
  }

  get logger(): Logger {
    return this.#scope.logger.createChild('auth')
  }

  /** Read late, since a call that may ask can join a run of initialize(). */
  mayAsk(): boolean {
    return this.#scope.status.isInteractive !== false
  }
}

/** What sharing the conversation with other tabs uses. */
function tabPartsOf({ early, session, transcript, sending, authentication }: LateParts): TabParts {
  const { scope, context, outbox, origin, late } = early
  return {
    scope,
    session,
    transcript,
    context,
    outbox,
    sending,
    authentication,
    lifecycle: {
      dropConversation: () => late.lifecycle?.dropConversation(),
      handleUserChange: async () => late.lifecycle?.handleUserChange(),
    },
    origin,
    loadTranscript: (sessionId, signal) => loadTranscript(early, sessionId, signal),
    hasCapability: name => scope.facts.hasCapability(name),
    address: (sessionId, lastSeq) => sessionAddress(early, sessionId, lastSeq),
  }
}

/** Removes expired queues from the page's database, also where the host stores none any more. */
async function sweepQueues({ environment }: AgentScope): Promise<void> {
  if (!environment.page?.window?.navigator.locks || typeof indexedDB === 'undefined') return
  const databases = await indexedDB.databases()
  if (databases.some(({ name }) => name === DATABASE))
    await (await import('../outbox/create-stored-queue.ts')).sweepQueues(environment)
}

/** The part that stores the queue for the next page, with `persistQueue`. */
function createStoredQueue(parts: LateParts): LazyPart<StoredQueue> | undefined {
  const { scope } = parts.early
  const { config, logger } = scope
  const { tabs } = parts
  if (config.persistQueueMs === undefined && !tabs) return undefined
  const load = async () => {
    const { createStoredQueue } = await import('../outbox/create-stored-queue.ts')
    return createStoredQueue(
      scope,
      () => userOf(parts),
      () => parts.sending.snapshot(),
      await tabs?.load(),
    )
  }
  return lazyPart(load, error => logger.warn('The module that stores the queue could not be loaded.', { error }))
}

/** The part that resumes the session of the previous page, with `resume` and without a session of the host. */
function createResume(parts: LateParts): LazyPart<SessionResume> | undefined {
  const { transcript, tabs } = parts
  const { scope, loader, context, processor, origin } = parts.early
  const { config, logger } = scope
  if ((!config.resume && !tabs) || config.sessionId !== undefined) return undefined
  const user = () => userOf(parts, tabs !== undefined)
  const load = async () => {
    const { SessionResume } = await import('../resume/session-resume.ts')
    const group = await tabs?.load()
    const used = { loader, context, transcript, processor, origin, user }
    return new SessionResume(scope, used, group && (own => group.sessionStore(own)))
  }
  const resume = lazyPart(load, error =>
    logger.warn('The module that resumes the session could not be loaded.', { error }),
  )
  // Registered before it is loaded: the previous page may have left a session that this one has not looked up.
  scope.userState.own({
    forgetUser: () => {
      const left = user()
      return resume(part => part.forgetUser(left))
    },
  })
  return resume
}

/** Fingerprint of the signed-in user, `anonymous` for an anonymous one; undefined while there is no token. */
function userOf({ authentication }: LateParts, isShared = false): string | undefined {
  const token = authentication.getCachedToken()
  if (token === null) return undefined
  // Tabs of an anonymous strategy share nothing with a user whose token the host supplied.
  const isUser = !authentication.isAnonymousStrategy() || (isShared && authentication.hasUser)
  return (isUser ? subjectFingerprint(token) : undefined) ?? 'anonymous'
}
