import type { DeploymentInfo } from '@aiagent/protocol'
import type { TenantSeed } from '../world/seed.ts'

/** Where everything is. Absent ids stay absent. */
export function describeDeployment(tenant: TenantSeed, origin: string): DeploymentInfo {
  const { clientId, intClientId, extClientId, version } = tenant
  return {
    apiDomain: origin,
    aiAgentDomain: tenant.aiAgentDomain,
    tenantId: tenant.id,
    tenant_identifier: tenant.identifier,
    ...(clientId !== undefined && { clientId }),
    ...(intClientId !== undefined && { intClientId }),
    ...(extClientId !== undefined && { extClientId }),
    domainHint: hintOf(new URL(origin)),
    ...(version !== undefined && { version }),
  }
}

/** The host of the login's redirect page. It is taken for https unless it says otherwise. */
function hintOf({ protocol, host, origin }: URL): string {
  return protocol === 'https:' ? host : origin
}
