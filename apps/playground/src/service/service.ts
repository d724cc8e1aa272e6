import type { AuthenticationInput, Environment } from '@aiagent/client'
import type { Fault, FaultInForce, UserSeed } from '@aiagent/emulator'

/** Controls of an emulator: the same over its port and in the page. */
export interface ServiceControls {
  /** Applies a fault. Resolves with its id, by which it is lifted. */
  add(fault: Fault): Promise<string>
  lift(id: string): Promise<void>
  /** The active faults. */
  active(): Promise<readonly FaultInForce[]>
  /** Time that the agent takes for an answer, in milliseconds. */
  answerTime(): Promise<number>
  /** Changes settings, such as `replyDelayMs`. */
  change(settings: Readonly<Record<string, unknown>>): Promise<void>
  /** A token of a user. */
  issueToken(subject: string): Promise<string>
}

/** What the page talks to. */
export interface Service {
  /** Where it is, in a few words. */
  readonly name: string
  readonly endpoint: string
  /** The network that leads to it. */
  readonly environment: Pick<Environment, 'fetch' | 'WebSocket'>
  /** Undefined for a deployment, which nobody can break on request. */
  readonly controls: ServiceControls | undefined
  /** The login of a kind of users; undefined to use the deployment's own. */
  login(userType: UserSeed['userType']): AuthenticationInput | undefined
}
