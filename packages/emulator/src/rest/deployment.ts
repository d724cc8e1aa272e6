import type { DeploymentInfo } from '@aiagent/protocol'
import type { TenantSeed } from '../world/seed.ts'

/**
 * The addresses of a tenant. Ids that it does not have are absent.
 *
 * @param chatDomain replaces the tenant's own chat domain
 */
export function describeDeployment(tenant: TenantSeed, origin: string, chatDomain?: string): DeploymentInfo {
  const { clientId, intClientId, extClientId, version } = tenant
  return {
    apiDomain: addressOf(origin),
    aiAgentDomain: chatDomain ?? tenant.aiAgentDomain,
    tenantId: tenant.id,
    tenant_identifier: tenant.identifier,
    ...(clientId !== undefined && { clientId }),
    ...(intClientId !== undefined && { intClientId }),
    ...(extClientId !== undefined && { extClientId }),
    domainHint: addressOf(origin),
    ...(version !== undefined && { version }),
  }
}

/** An address as deployments write it: a bare host, which means https. Plain http needs its scheme. */
function addressOf(address: string): string {
  const { protocol, host, origin } = new URL(address)
  return protocol === 'https:' ? host : origin
}
