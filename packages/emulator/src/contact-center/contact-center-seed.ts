import type { Id, MaskingPatterns } from '@aiagent/protocol'

/** A part of a tenant's organization. Portals and agents belong to one. */
export interface DepartmentSeed {
  id: Id
  name: string
  /** The tenant it is part of; the first one by default. */
  tenantId?: string
  /** What its chats must not show, by channel. */
  maskingPatterns?: Readonly<Record<string, MaskingPatterns>>
}

/** A profile that people can take on within a portal. */
export interface ProfileSeed {
  id: Id
  name: string
}

/** A door of the help desk: what people can be there, and which agents answer. */
export interface PortalSeed {
  id: Id
  name: string
  description?: string
  departmentId: Id
  profiles: readonly ProfileSeed[]
  /** The default profile. */
  defaultProfileId?: Id
  /** Ids of the agents that answer here, in the order of their list. */
  agentIds: readonly string[]
  /** Ids of the only users who may enter. Without it, everybody of the tenant may. */
  memberIds?: readonly string[]
}

/** An application that a desk's agent is connected to. Told as it is. */
export type ConnectedApp = Readonly<Record<string, unknown>>
