import { withoutTokens } from '../util/jwt.ts'

/** How a check ended. `skipped`: it does not apply here, or a check that it depends on failed. */
export type DoctorStatus = 'passed' | 'warning' | 'failed' | 'skipped'

/** What a check examines, in the order of the report. */
export type DoctorCheck =
  | 'endpoint'
  | 'deployment'
  | 'clock'
  | 'metadata'
  | 'token'
  | 'agent'
  | 'scopes'
  | 'session'
  | 'chat'
  | 'answer'
  | 'idle'
  | 'storage'
  | 'login'
  | 'cors'
  | 'policy'

/** What to do about each problem, by its code. */
export const REMEDIES = Object.freeze({
  ENDPOINT_INVALID: 'Pass the address of the deployment, such as https://agents.example.com.',
  ENDPOINT_UNENCRYPTED: 'Use https: tokens and messages are readable on the way.',
  DEPLOYMENT_UNREACHABLE: 'Check the address, the network, and the certificate of the deployment.',
  DEPLOYMENT_TIMEOUT: 'Check the load of the deployment, and whether a proxy in front of it holds requests back.',
  DEPLOYMENT_STATUS:
    'Try again later after 429 or 5xx. Else check that the endpoint is the address of the deployment, without a path.',
  DEPLOYMENT_UNREADABLE:
    'Check that the endpoint is the address of the deployment, and not of a website or a login page.',
  CLOCK_SKEW: 'Set the clock of this machine by a time server. Tokens seem to expire too early or too late.',
  METADATA_FAILED: 'Check the authentication settings of the deployment. Every sign-in reads its addresses there.',
  ANONYMOUS_DISABLED: 'Enable anonymous access in the deployment, or pass the access token of a user.',
  TOKEN_REFUSED: 'Check the client of the deployment at its identity provider, and its scopes.',
  TOKEN_UNREADABLE: 'Pass a JWT where you can: only then are expiry and user known ahead of a refusal.',
  TOKEN_EXPIRED: 'Obtain a new access token.',
  TOKEN_SHORT_LIVED: 'Obtain a token that lives longer: a session needs 290 seconds, an hour is usual.',
  AGENT_UNKNOWN: 'Check the id of the agent. The admin console of the deployment shows it.',
  AGENT_DENIED: 'Pass a token that the service accepts, with the scopes of the agent.',
  AGENT_FAILED: 'Ask the operator of the deployment: the agent details could not be loaded.',
  AGENT_NEEDS_LOGIN: 'Pass the access token of a user, to check session and chat as well.',
  SCOPES_MISSING: 'Grant the scopes to the client at the identity provider.',
  SESSION_DENIED: 'Pass a token with the scopes of the agent and a life of more than 290 seconds.',
  SESSION_FAILED: 'Ask the operator of the deployment: no session could be created.',
  SESSION_WITHOUT_CONTEXT: 'Allow POST on the path of the session, else the context of the host is lost.',
  CHAT_ADDRESS_MISSING: 'Set the webSocketDomain of the agent, or the aiAgentDomain of the deployment.',
  CHAT_REFUSED: 'Let the proxy in front of the chat pass WebSocket upgrades (`Upgrade` and `Connection` headers).',
  CHAT_UNREACHABLE: 'Check that the host of the chat exists, is reachable and has a valid certificate.',
  CHAT_TIMEOUT: 'Check the proxy in front of the chat: the upgrade was neither accepted nor refused.',
  CHAT_CLOSED: 'Look up the close code in the log of the service.',
  CHAT_SILENT: 'Turn off buffering in the proxy in front of the chat, and check that the agent is running.',
  CHAT_ERROR: 'Look up the error code in the log of the service.',
  CHAT_IDLE_CUT: 'Raise the idle time limit of the proxy in front of the chat above that of the service.',
  CHAT_IDLE_DEAD: 'Raise the idle time limit of the firewall between client and service: it drops frames silently.',
  STORAGE_BLOCKED: 'Allow site data, or pass a cache adapter. Without a store nothing survives a reload.',
  PAGE_INSECURE: 'Serve the page with https. Logins need the cryptography of a secure page.',
  POPUP_BLOCKED: 'Start the login in a click, allow popups for the page, or use `authScheme: "redirect"`.',
  POPUP_OPENER_CUT: 'Serve the page with `Cross-Origin-Opener-Policy: same-origin-allow-popups`, or use a redirect.',
  CORS_BLOCKED: 'Add the origin of the page to the origins that the deployment allows.',
  CSP_BLOCKED: 'Add the listed origins to the content security policy of the page.',
})

/** Stable code of a problem. */
export type DoctorCode = keyof typeof REMEDIES

/** The result of one check. */
export interface DoctorFinding {
  /** What was examined. */
  readonly check: DoctorCheck
  /** How it ended. */
  readonly status: DoctorStatus
  /** The problem; absent where there is none. */
  readonly code?: DoctorCode
  /** One plain sentence. */
  readonly text: string
  /** What to do, with a problem. */
  readonly remedy?: string
  /** Duration of the check, in milliseconds. */
  readonly ms: number
}

/** The result of `runDoctor()`. Plain JSON, without tokens and session ids. */
export interface DoctorReport {
  /** Version of the format. */
  readonly version: 1
  /** Version of the library. */
  readonly library: string
  /** Origin of the deployment. */
  readonly endpoint: string
  /** Id of the agent. */
  readonly agent: string
  /** Time of the report, in ISO 8601. */
  readonly createdAt: string
  /** The worst status of all findings: `passed`, `warning` or `failed`. */
  readonly status: Exclude<DoctorStatus, 'skipped'>
  /** One for each check, in order. */
  readonly findings: readonly DoctorFinding[]
}

/** What a check returns: a sentence, and a problem where there is one. */
export interface Verdict {
  status: DoctorStatus
  text: string
  code?: DoctorCode
}

export const passed = (text: string): Verdict => ({ status: 'passed', text })
export const skipped = (text: string): Verdict => ({ status: 'skipped', text })
export const warning = (code: DoctorCode, text: string): Verdict => ({ status: 'warning', code, text })
export const failed = (code: DoctorCode, text: string): Verdict => ({ status: 'failed', code, text })

/** A text without the given secrets, and without anything that looks like a token. */
export function redact(text: string, secrets: Iterable<string>): string {
  let clean = text
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, '…')
  return withoutTokens(clean).replace(/\/\/[^/\s@]+@/g, '//')
}
