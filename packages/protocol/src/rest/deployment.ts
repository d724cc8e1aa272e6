import * as v from 'valibot'
import { jsonObject } from '../json-object.ts'

const text = v.nullish(v.string())

/** Where a deployment's services are, and which clients it knows. `GET /system/deploymentInfo`. */
export const DeploymentInfoSchema = jsonObject({
  /** Host or address of all other REST calls. */
  apiDomain: v.pipe(v.string(), v.nonEmpty()),
  /** The chat host is `chat.<aiAgentDomain>` unless agent details name another. */
  aiAgentDomain: text,
  tenantId: text,
  tenant_identifier: text,
  intClientId: text,
  extClientId: text,
  clientId: text,
  /** Host of the login's redirect page. */
  domainHint: text,
  /** Decides whether content masking is available. */
  version: text,
  /** Extensions that the service speaks; absent means none. */
  capabilities: v.nullish(v.array(v.string())),
})
/** Where a deployment's services are, and which clients it knows. */
export type DeploymentInfo = v.InferOutput<typeof DeploymentInfoSchema>
