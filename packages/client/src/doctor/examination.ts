import type { AgentDetails, DeploymentInfo, OAuthMetadata } from '@aiagent/protocol'
import type { Environment } from '../platform/environment.ts'
import type { ProbeSocket } from './probe-socket.ts'
import type { DoctorFinding } from './report.ts'

/** Options of `runDoctor()`. */
export interface DoctorOptions {
  /** Address of the deployment, as in `AiAgentConfig`. */
  endpoint: string
  /** Id of the agent. @default 'help' */
  agent?: string
  /** Access token of a user. Without one, an anonymous token is requested. */
  token?: string
  /**
   * A question for the agent, to see that frames pass in both directions. It is part of a real conversation.
   *
   * @default nothing is said, and the check `answer` needs a service that answers pings
   */
  ask?: string
  /** How long the chat stays open without a frame, in seconds, to find proxies that cut it. @default 0, not checked */
  idleSeconds?: number
  /** Time limit of each step, in milliseconds. @default 10_000 */
  timeoutMs?: number
  /** Opens and closes a window, to see whether popups are allowed. Only in a click. @default false */
  popup?: boolean
  /** Ends the examination; the promise rejects with its reason. */
  signal?: AbortSignal
  /** Called with each finding. */
  onFinding?: (finding: DoctorFinding) => void
  /** Replaces parts of the platform, as the second argument of `AiAgent`. */
  environment?: Partial<Environment>
}

/** What the checks know so far. */
export interface Examination {
  readonly options: DoctorOptions & { agent: string; timeoutMs: number }
  readonly environment: Environment
  /** Removed from every text of the report. */
  readonly secrets: Set<string>
  /** Origins of which no request got an answer. */
  readonly unreachable: Set<string>
  /** Origins that the content security policy blocked, with the directive. */
  readonly violations: Map<string, string>
  /** Difference between the clock of the service and this one, in milliseconds, where a response told it. */
  skewMs?: number
  /** Methods of the requests so far, with path, and status once it is known, else 0. */
  readonly requests: { method: string; status: number; path: string }[]
  deployment?: DeploymentInfo
  metadata?: OAuthMetadata
  token?: string
  details?: AgentDetails
  sessionId?: string
  socket?: ProbeSocket
}
