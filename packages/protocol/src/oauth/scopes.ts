/** The API scopes that the library knows by name. */
export const SCOPE = {
  PORTAL_MANAGER: 'knowledge.portalmgr.manage',
  AI_SERVICES: 'core.aiservices.read',
  CUSTOMER_MANAGER: 'core.customermgr.read',
} as const

/** What is asked for when the host names no scopes, in this order. */
export const DEFAULT_SCOPES: readonly string[] = [SCOPE.PORTAL_MANAGER, SCOPE.AI_SERVICES]
