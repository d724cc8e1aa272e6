import type { DeploymentInfo } from '@aiagent/protocol'
import type { EmulatorSettings } from '../settings.ts'
import type { TenantSeed } from '../world/seed.ts'

export interface DeploymentParts {
  origin: string
  /** Replaces the tenant's own chat domain. */
  chatDomain?: string | undefined
  settings: EmulatorSettings
}

/** The addresses and capabilities of a tenant's deployment. Ids that it does not have are absent. */
export function describeDeployment(
  tenant: TenantSeed,
  { origin, chatDomain, settings: { capabilities } }: DeploymentParts,
): DeploymentInfo {
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
    ...(capabilities.length > 0 && { capabilities: [...capabilities] }),
  }
}

/** An address in the form of deployments: a bare host, which means https. Plain http needs its scheme. */
function addressOf(address: string): string {
  const { protocol, host, origin } = new URL(address)
  return protocol === 'https:' ? host : origin
}
