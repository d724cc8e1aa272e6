import type { Id, MaskingPatterns } from '@aiagent/protocol'

/** A part of a tenant's organization. Portals and agents belong to one. */
export interface DepartmentSeed {
  /** Unique among the departments. */
  id: Id
  /** Name to display. */
  name: string
  /** Its tenant; the first one by default. */
  tenantId?: string
  /** Masking rules for its chats, by channel. */
  maskingPatterns?: Readonly<Record<string, MaskingPatterns>>
}

/** A profile that users can select within a portal. */
export interface ProfileSeed {
  /** Unique in its portal. */
  id: Id
  /** Name to display. */
  name: string
}

/** A portal of the contact center: its profiles, and the agents that answer in it. */
export interface PortalSeed {
  /** Unique among the portals. */
  id: Id
  /** Name to display. */
  name: string
  /** Text that clients show beside the name. @default none */
  description?: string
  /** Id of its department. */
  departmentId: Id
  /** The selectable profiles, in the order of their list. May be empty. */
  profiles: readonly ProfileSeed[]
  /** The default profile. */
  defaultProfileId?: Id
  /** Ids of its agents, in the order of their list. */
  agentIds: readonly string[]
  /** Ids of the only users who may use it. Without it, all users of the tenant may. */
  memberIds?: readonly string[]
}

/** A connected application of a contact-center agent. Returned unchanged. */
export type ConnectedApp = Readonly<Record<string, unknown>>
