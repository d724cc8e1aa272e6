import type { ClientMessage, ContextValidationIssue, Id, ServerMessage } from '@aiagent/protocol'
import type { DepartmentSeed, PortalSeed } from '../contact-center/contact-center-seed.ts'
import { LastUsedProfiles } from '../contact-center/last-used-profiles.ts'
import type { EmulatorSettings } from '../settings.ts'
import { type RecordedRequest, Recording } from './recording.ts'
import type { AgentSeed, ClientSeed, TenantSeed, UserSeed, WorldSeed } from './seed.ts'

/** A frame of a client as it arrived. `message` is absent when it could not be read. */
export interface RecordedFrame {
  /** Milliseconds since the epoch. */
  at: number
  data: unknown
  message?: ClientMessage
}

/** A message of the conversation, in the shape of a frame with its time. */
export type HistoryEntry = ServerMessage & { timestamp: number }

/** What the service remembers of one conversation. */
export interface SessionRecord {
  readonly id: string
  readonly agent: AgentSeed
  readonly createdAt: number
  /** The subject of the token that opened the session. */
  readonly subject: string
  /** Attributes that passed validation, as they were given. */
  context: Record<string, unknown>
  /** Attributes of the context it was opened with that did not pass; told right after the first opening. */
  contextIssues: ContextValidationIssue[]
  /** What a person and the agent said, oldest first. */
  readonly history: Recording<HistoryEntry>
  /** Every frame that a client sent. */
  readonly received: Recording<RecordedFrame>
  readonly feedback: { rating: string; answerMessageId: string }[]
  readonly escalationEvents: unknown[]
  /** The call that a desk named when it connected. */
  externalCallId?: string
  ended: boolean
  /** How many chat connections it has had. */
  connections: number
}

/**
 * Everything the service knows: its tenants, agents and clients, the sessions, and the requests it was asked.
 * Plain data, open to tests. What happens to a session while it is connected is the chat service's part.
 */
export class World {
  readonly tenants: readonly TenantSeed[]
  /** By agent id. Agents can be added and changed at any time. */
  readonly agents: Map<string, AgentSeed>
  /** By client id. */
  readonly clients: Map<string, ClientSeed>
  /** By user id, which is the subject of their tokens. */
  readonly users: Map<string, UserSeed>
  /** By department id, as text. */
  readonly departments: Map<string, DepartmentSeed>
  /** By portal id, as text, in the order of their lists. */
  readonly portals: Map<string, PortalSeed>
  /** Which profile people took on last, portal by portal. */
  readonly lastUsedProfiles: LastUsedProfiles
  /** By session id, in the order of their creation. */
  readonly sessions = new Map<string, SessionRecord>()
  readonly requests: Recording<RecordedRequest>
  /** The frames of each session by its id; they stay readable when the session is forgotten. */
  readonly frames = new Map<string, Recording<RecordedFrame>>()
  readonly #settings: EmulatorSettings

  constructor(seed: WorldSeed, settings: EmulatorSettings) {
    if (seed.tenants.length === 0) throw new RangeError('The world needs at least one tenant.')
    // A copy: what changes in one world must not change in the next one made of the same seed.
    const { tenants, agents, clients, users, departments, portals } = structuredClone(seed)
    this.tenants = tenants
    this.agents = new Map(agents.map(agent => [agent.details.agentId, agent]))
    this.clients = new Map(clients.map(client => [client.id, client]))
    this.users = new Map(users.map(user => [user.id, user]))
    this.departments = new Map(departments.map(department => [String(department.id), department]))
    this.portals = new Map(portals.map(portal => [String(portal.id), portal]))
    this.lastUsedProfiles = new LastUsedProfiles(users)
    this.requests = new Recording(() => settings.recordingLimit)
    this.#settings = settings
  }

  /** The tenant that deployment info describes. */
  get tenant(): TenantSeed {
    return this.tenants[0] as TenantSeed
  }

  /** The tenant of the subject of a token; the first one for unknown subjects. */
  tenantIdOf(subject: string): string {
    return this.users.get(subject)?.tenantId ?? this.tenant.id
  }

  /** The tenant that a department is part of; the first one for a department that is not known. */
  tenantIdOfDepartment(departmentId: Id | null | undefined): string {
    return this.departments.get(String(departmentId))?.tenantId ?? this.tenant.id
  }

  addSession(
    session: Pick<SessionRecord, 'id' | 'agent' | 'createdAt' | 'subject' | 'context' | 'contextIssues'>,
  ): SessionRecord {
    const settings = this.#settings
    const record: SessionRecord = {
      ...session,
      history: new Recording(() => settings.historyLimit),
      received: new Recording(() => settings.recordingLimit),
      feedback: [],
      escalationEvents: [],
      ended: false,
      connections: 0,
    }
    this.sessions.set(record.id, record)
    this.frames.set(record.id, record.received)
    return record
  }
}
