import type { AuthenticationInput, AuthScheme } from './auth/auth-strategy.ts'
import type { AiAgentConnectorConfig } from './contact-center/connector/connector-url.ts'
import type { DeliveryMode } from './log/delivery.ts'
import type { TranscriptConfig } from './log/entry.ts'
import type { Logger, LogLevel } from './logger.ts'
import type { MaskingConfig } from './masking/masking.ts'
import type { TraceRecorder } from './platform/trace.ts'
import type { CacheConfig } from './storage/cache-adapter.ts'

/** How queued messages are stored for the next page. */
export interface PersistQueueOptions {
  /** Age from which a message is no longer sent, in milliseconds. @default 86_400_000, a day */
  expiresAfterMs?: number
}

/** Configuration of an agent. Only `id` and `endpoint` are required. */
export interface AiAgentConfig {
  /** The agent's id, as the admin console shows it. */
  id: string
  /**
   * Address of the deployment: `https://…`, `wss://…` or a bare host.
   *
   * Deployment information is fetched from it over HTTP; `ws:` and `wss:` are read as `http:` and `https:` there.
   */
  endpoint: string
  /**
   * How access tokens are obtained: a config object whose `type` is `anonymous`, `pre-auth`, `client-credentials` or `pkce`, such as
   * `{ type: 'pre-auth', accessToken }`, an object with `getToken()`, or a full `AuthStrategy`.
   *
   * Without it the agent uses an anonymous token. An agent that requires users then signs them in at the deployment's
   * identity provider.
   */
  auth?: AuthenticationInput
  /**
   * Scheme of the login and logout that the library configures itself: for an agent that requires users, without `auth`.
   * Without effect where `auth` holds a `PKCEAuthConfig`: its own `authScheme` decides there, whose default is `redirect`. The agent
   * logs a warning where the two differ.
   *
   * @default 'popup'
   */
  authScheme?: AuthScheme
  /**
   * Records what the agent does, for a report of a failure: `createRecorder()` of `@aiagent/client/recorder`, whose
   * `exportTrace()` returns the recording. One recorder is for one agent.
   *
   * @default none
   */
  recorder?: TraceRecorder
  /** Connect as soon as `initialize()` has completed. @default false */
  autoConnect?: boolean
  /**
   * Whether `send()` and `ask()` open the chat when it is not open and no reconnect follows: before the first `connect()`,
   * after `disconnect()`, and after a close that ends the chat. If the service has ended the session, a new one is created.
   *
   * @default false
   */
  connectOnSend?: boolean
  /** Maximum number of queued messages. `send()` rejects with `queue_full` beyond it. @default 1000 */
  maxQueueSize?: number
  /** Maximum number of reconnect attempts before the state becomes CLOSED. @default Infinity */
  maxReconnectAttempts?: number
  /** Shortest wait before a reconnect attempt, in milliseconds. @default 1000 */
  baseReconnectDelay?: number
  /**
   * Longest wait before a reconnect attempt, in milliseconds.
   *
   * The wait doubles from `baseReconnectDelay` with each failed attempt and stops growing here. Close codes 1000 and
   * 1005 end the connection, so no attempt follows them.
   *
   * @default 30_000
   */
  maxReconnectDelay?: number
  /**
   * How long a message may take to reach the service, in milliseconds. When a connection breaks, the messages are in doubt that
   * were written after its last received frame, or less than this time before it: they may not have arrived.
   *
   * With a shorter time fewer messages become `unknown`, with a longer one more. With 0 only messages that were written after the
   * last frame are in doubt, and a page keeps an open connection when it wakes or receives nothing.
   *
   * @default 20_000
   */
  doubtAfterMs?: number
  /**
   * Whether messages that may not have arrived are sent again by themselves after a reconnect. `at-most-once`: no; `deliveryUpdate`
   * reports them as `unknown`, and `agent.delivery(id).retry()` sends them. `at-least-once`: yes, in order and before
   * anything new, so that the service may have a message twice. Without effect where the service has announced receipts:
   * then each message arrives exactly once.
   *
   * @default 'at-most-once'
   */
  delivery?: DeliveryMode
  /**
   * Whether `initialize()` keeps trying while the service cannot be reached: no network, a time limit, HTTP 429 or 5xx. Other
   * failures, such as a refused token or an unknown agent, still reject at once.
   *
   * Waits, number of attempts and events are those of a reconnect: `stateChanged` with `retryInMs`, an `error` event for each
   * failed attempt, and one with reason `attempts_used_up` before `initialize()` rejects. Ends with the signal,
   * `disconnect()`, `logout()` and `destroy()`.
   *
   * @default false
   */
  retryInitialize?: boolean
  /** Logger to use. By default the agent creates one named `AiAgent:<id>`. */
  logger?: Logger
  /** Entries below this level are dropped. @default LogLevel.INFO */
  logLevel?: LogLevel
  /** Whether log entries are printed. Listeners of the logger receive them in both cases. @default true */
  enableLogging?: boolean
  /** Whether the transcript stores messages, and which. */
  transcriptConfig?: TranscriptConfig
  /** How REST responses and the context are cached. */
  cache?: CacheConfig
  /** How sensitive content of outgoing messages is masked. */
  masking?: MaskingConfig
  /** Id of an existing session. Without it, `initialize()` creates a session. */
  sessionId?: string | number
  /**
   * Whether the conversation survives a reload of the page. The session id is stored in the tab's session storage, or in
   * `cache.adapter`, for the same agent and user; after the reload the transcript is restored. A new tab starts its own
   * conversation. Ignored with `cache.enabled: false` or with a `sessionId`.
   *
   * @default false
   */
  resume?: boolean
  /**
   * Whether queued messages survive a reload or a crash of the page, and how long they may be sent then. They are stored
   * masked: in IndexedDB in a browser with Web Locks, in `cache.adapter` elsewhere. The next page of the user sends them
   * first, under the same ids. Sign-out and a change of the user remove them. Ignored with `cache.enabled: false`.
   *
   * @default false
   */
  persistQueue?: boolean | PersistQueueOptions
  /**
   * `share`: all tabs of the browser in which the same user talks with the same agent have one conversation, with one
   * connection. One tab holds it, and another one continues when that tab ends. Ignored with a `sessionId`, outside a page,
   * and in browsers without Web Locks: there each tab has a separate conversation.
   *
   * @default none
   */
  tabs?: 'share'
  /** Parameters forwarded from the host app. `getInitParams()` returns all of them, known or not. */
  initParams?: Record<string, string>
  /** Initial context attributes. `initialize({ context })` is merged over them. */
  context?: Record<string, unknown>
  /** Source of the platform's connector script, which is loaded when `initParams.platform` is set. */
  connector?: AiAgentConnectorConfig
  /** Removed in 0.3.0: use `initParams.scopes`. A value is ignored with a warning. */
  scopes?: never
}

/** Default of each option. */
export const DEFAULTS = {
  authScheme: 'popup',
  autoConnect: false,
  connectOnSend: false,
  maxQueueSize: 1000,
  maxReconnectAttempts: Infinity,
  baseReconnectDelay: 1000,
  maxReconnectDelay: 30_000,
  doubtAfterMs: 20_000,
  delivery: 'at-most-once',
  retryInitialize: false,
  // As a number: a bundler keeps what reads a member of another object.
  logLevel: 2 satisfies typeof LogLevel.INFO,
  enableLogging: true,
  resume: false,
} as const
