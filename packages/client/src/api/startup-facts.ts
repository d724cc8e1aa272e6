import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import type { RestApi } from './rest-api.ts'

/** What was learned on the way to a ready agent. */
export interface StartupFacts {
  readonly deployment: DeploymentInfo
  readonly api: RestApi
  readonly agent: AgentDetails
}
