import { listOf, optional, orAbsent, type Reader, readFilledText, readRecord, readText } from '../reading.ts'

/** Hosts, tenant and OAuth clients of a deployment, from `GET /system/deploymentInfo`. */
export interface DeploymentInfo {
  /** Host or address of all other REST calls. */
  apiDomain: string
  /** The chat host is `chat.<aiAgentDomain>` unless the agent details name another. */
  aiAgentDomain?: string | null
  /** Id of the tenant, in the paths of OAuth metadata and in the anonymous token address. */
  tenantId?: string | null
  /** Name of the tenant; separates stored choices of different tenants. */
  tenant_identifier?: string | null
  /** OAuth client id for users of the contact center. */
  intClientId?: string | null
  /** OAuth client id for customers. */
  extClientId?: string | null
  /** OAuth client id where the two above are missing. */
  clientId?: string | null
  /** Host of the login's redirect page. */
  domainHint?: string | null
  /** Version of the deployment, such as `21.23.0`. Masking needs a minimum version. */
  version?: string | null
  /** Extensions that the service supports; see `CAPABILITY`. Missing, or something other than a list, means none. */
  capabilities?: string[] | null
}

/** @throws {ProtocolError} when the value is not a deployment info, or has no `apiDomain` */
export const parseDeploymentInfo: Reader<DeploymentInfo> = (value, path) => {
  const text = optional(readText)
  return readRecord<DeploymentInfo>(value, path, {
    apiDomain: readFilledText,
    aiAgentDomain: text,
    tenantId: text,
    tenant_identifier: text,
    intClientId: text,
    extClientId: text,
    clientId: text,
    domainHint: text,
    version: text,
    capabilities: orAbsent(optional(listOf(readText))),
  })
}
