import { type Capability, PORTAL_PAGE_SIZE } from '@aiagent/protocol'

/** How the emulated service behaves where deployments differ. All of it can be changed while it runs. */
export interface EmulatorSettings {
  /** Extensions of the wire that the deployment information announces, and that the chat then supports. @default [] */
  capabilities: readonly Capability[]
  /** How many frames of a session are kept for a client that resumes. @default 1000 */
  resumeBufferLimit: number
  /** How many ids of accepted frames of a session are kept, for the receipts. @default 10_000 */
  seenIdLimit: number
  /** Whether the chat history is sent to a client that opens a session with messages. @default true */
  sendHistory: boolean
  /** Whether a session can be opened with POST. False answers 405, so that a client's fallback to GET shows. @default true */
  postSession: boolean
  /** Takes a token only in the header form that the call was observed with, rather than with and without `Bearer`. @default false */
  strictAuthHeader: boolean
  /** Refuses calls with 403 when the token lacks the scope that the call belongs to. @default false */
  checkScopes: boolean
  /** Whether a graceful disconnect spends the session rather than leaving it open for a return. @default false */
  endSessionOnGracefulDisconnect: boolean
  /**
   * What happens to a chat connection for a session that is unknown or has ended: `refuse` answers the upgrade with
   * HTTP 404 or 410, `close-4404` accepts it, names the reason in an error frame and closes with 4404, so that
   * browsers can tell as well.
   *
   * @default 'refuse'
   */
  unknownSession: 'refuse' | 'close-4404'
  /** Answers more than 20 messages of a person within 10 seconds with `429-001`. @default false */
  rateLimit: boolean
  /** Life of the tokens that are issued, in seconds. @default 3600 */
  tokenLifeSeconds: number
  /** Whether the OpenID configuration names an `end_session_endpoint`. The endpoint works in any case. @default true */
  endSessionEndpoint: boolean
  /** Whether access tokens of people who signed in name a place to sign out, in the claim `logout`. @default true */
  logoutClaim: boolean
  /**
   * How a signed-in person's token is renewed without the person: `works`; `by-session-only` refuses refresh tokens, so
   * that a hidden frame is what remains; `interaction-required` and `fails` refuse both, the one with
   * `interaction_required`, the other as if the login were over.
   *
   * @default 'works'
   */
  silentRenewal: 'works' | 'by-session-only' | 'interaction-required' | 'fails'
  /** Header `Cross-Origin-Opener-Policy` of the login pages; none when empty. @default '' */
  loginOpenerPolicy: string
  /**
   * Ids of agents that are open to everybody, although their details are written for people who signed in.
   *
   * @default []
   */
  withoutSignIn: readonly string[]
  /** Time that every answer to a request takes, upgrades of chat connections included, in milliseconds. @default 0 */
  answerDelayMs: number
  /** What chance adds to that, at most, in milliseconds; the same seed adds the same. @default 0 */
  answerJitterMs: number
  /**
   * Most portals on one page of a list, however many a client asks for. 0 gives all at once, without a word on pages.
   *
   * @default 75
   */
  portalPageSize: number
  /** Status of an empty list of portals or profiles: 204 has no body, 200 an empty list. @default 204 */
  emptyListStatus: 200 | 204
  /** Time the agent takes before it answers, in milliseconds. @default 0 */
  replyDelayMs: number
  /** Whether a heartbeat goes ahead of each answer. @default true */
  heartbeatBeforeReply: boolean
  /** Time between further heartbeats while an answer is in the making, in milliseconds. @default 5000 */
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
  heartbeatIntervalMs: 5000,
  idleTimeoutMs: 30 * 60_000,
  unreadableFrameLimit: 20,
  contextValueLimit: 4096,
  historyLimit: 500,
  recordingLimit: 20_000,
}
