import { type Capability, PORTAL_PAGE_SIZE } from '@aiagent/protocol'

/** Behaviour of the emulated service where deployments differ. All settings can be changed while it runs. */
export interface EmulatorSettings {
  /** Extensions of the wire that the deployment information announces, and that the chat then supports. @default [] */
  capabilities: readonly Capability[]
  /** How many frames of a session are kept for a client that resumes. @default 1000 */
  resumeBufferLimit: number
  /** How many ids of accepted frames of a session are kept, for the receipts. @default 10_000 */
  seenIdLimit: number
  /** Whether the chat history is sent to a client that opens a session with messages. @default true */
  sendHistory: boolean
  /**
   * Whether a session can be created with POST. False answers 405, so that a client uses its fallback to GET. @default
   * true
   */
  postSession: boolean
  /**
   * Accepts a token only in the observed header form of the call, rather than with and without `Bearer`. @default false
   */
  strictAuthHeader: boolean
  /** Rejects calls with 403 when the token lacks the scope of the call. @default false */
  checkScopes: boolean
  /** Whether a graceful disconnect ends the session instead of keeping it open. @default false */
  endSessionOnGracefulDisconnect: boolean
  /**
   * The response to a chat connection for a session that is unknown or has ended. `refuse` answers the upgrade with
   * HTTP 404 or 410. `close-4404` accepts it, sends the reason in an error frame and closes with 4404, which browsers
   * can detect as well.
   *
   * @default 'refuse'
   */
  unknownSession: 'refuse' | 'close-4404'
  /** Answers more than 20 messages of a user within 10 seconds with `429-001`. @default false */
  rateLimit: boolean
  /** Lifetime of issued tokens, in seconds. @default 3600 */
  tokenLifeSeconds: number
  /**
   * Whether the OpenID configuration contains an `end_session_endpoint`. The endpoint works in any case. @default true
   */
  endSessionEndpoint: boolean
  /** Whether access tokens of signed-in users contain a logout address, in the claim `logout`. @default true */
  logoutClaim: boolean
  /**
   * How the token of a signed-in user is renewed without the user. `works`: always. `by-session-only`: refresh tokens
   * are rejected, so that only a hidden frame works. `interaction-required` and `fails`: both are rejected, the first
   * with `interaction_required`, the second as if the login had ended.
   *
   * @default 'works'
   */
  silentRenewal: 'works' | 'by-session-only' | 'interaction-required' | 'fails'
  /** Header `Cross-Origin-Opener-Policy` of the login pages; none when empty. @default '' */
  loginOpenerPolicy: string
  /**
   * Ids of agents that accept anonymous users, although their details require signed-in users.
   *
   * @default []
   */
  withoutSignIn: readonly string[]
  /** Delay of every response, including upgrades of chat connections, in milliseconds. @default 0 */
  answerDelayMs: number
  /** Maximum random addition to that delay, in milliseconds; the same seed adds the same. @default 0 */
  answerJitterMs: number
  /**
   * Maximum number of portals on one page of a list, regardless of the request. 0 returns all at once, without page
   * information.
   *
   * @default 75
   */
  portalPageSize: number
  /** Status of an empty list of portals or profiles: 204 has no body, 200 an empty list. @default 204 */
  emptyListStatus: 200 | 204
  /** Time that the agent takes for an answer, in milliseconds. @default 0 */
  replyDelayMs: number
  /** Whether a heartbeat precedes each answer. @default true */
  heartbeatBeforeReply: boolean
  /** Whether a customer can open a chat with a colleague. When it is closed, the agent names other ways to a human. @default 'open' */
  desk: 'open' | 'closed'
  /** Interval of further heartbeats while an answer is in progress, in milliseconds. @default 5000 */
  heartbeatIntervalMs: number
  /** Time without a frame from the client after which a session ends, in milliseconds. @default 1_800_000 */
  idleTimeoutMs: number
  /** Unreadable frames within ten seconds that a connection survives; one more closes it with 1008. @default 20 */
  unreadableFrameLimit: number
  /** Longest text or JSON of a context attribute, in characters; a longer one is dropped and reported. @default 4096 */
  contextValueLimit: number
  /** How many of a session's messages are remembered for its history. @default 500 */
  historyLimit: number
  /** How many requests, and frames of each session, are kept for the reader of the recording. @default 20_000 */
  recordingLimit: number
}

/** The settings of an emulator that was given none. */
export const DEFAULT_SETTINGS: Readonly<EmulatorSettings> = {
  capabilities: [],
  resumeBufferLimit: 1000,
  seenIdLimit: 10_000,
  sendHistory: true,
  postSession: true,
  strictAuthHeader: false,
  checkScopes: false,
  endSessionOnGracefulDisconnect: false,
  unknownSession: 'refuse',
  rateLimit: false,
  tokenLifeSeconds: 3600,
  endSessionEndpoint: true,
  logoutClaim: true,
  silentRenewal: 'works',
  loginOpenerPolicy: '',
  withoutSignIn: [],
  answerDelayMs: 0,
  answerJitterMs: 0,
  portalPageSize: PORTAL_PAGE_SIZE,
  emptyListStatus: 204,
  replyDelayMs: 0,
  heartbeatBeforeReply: true,
  desk: 'open',
  heartbeatIntervalMs: 5000,
  idleTimeoutMs: 30 * 60_000,
  unreadableFrameLimit: 20,
  contextValueLimit: 4096,
  historyLimit: 500,
  recordingLimit: 20_000,
}
