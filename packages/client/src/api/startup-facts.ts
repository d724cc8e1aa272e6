import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import type { ApiHelper } from './api-helper.ts'

/** What was learned on the way to a ready agent. */
export interface StartupFacts {
  readonly deployment: DeploymentInfo
  readonly api: ApiHelper
  readonly agent: AgentDetails
}
