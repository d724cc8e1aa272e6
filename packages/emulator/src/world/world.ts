import type { Id } from '@aiagent/protocol'
import type { DepartmentSeed, PortalSeed } from '../contact-center/contact-center-seed.ts'
import { LastUsedProfiles } from '../contact-center/last-used-profiles.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { SessionKeeper } from '../state/session-keeper.ts'
import { type RecordedRequest, Recording } from './recording.ts'
import type { AgentSeed, ClientSeed, TenantSeed, UserSeed, WorldSeed } from './seed.ts'
import { applyChange, type SessionChange } from './session-change.ts'
import { createSessionRecord, type SessionRecord, type SessionStart } from './session-record.ts'

/**
 * Everything the service knows: its tenants, agents and clients, the sessions, and the requests it was asked.
 * Plain data, open to tests. What happens to a session while it is connected is the chat service's part.
 */
export class World {
  /** The tenants; the first one is the default. */
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
  /** Requests to the service, oldest first, up to the setting `recordingLimit`. */
  readonly requests: Recording<RecordedRequest>
  /** Every session that ever was, by its id: they stay readable when the session is forgotten. */
  readonly records = new Map<string, SessionRecord>()
  readonly #settings: EmulatorSettings
  readonly #keeper: SessionKeeper | undefined

  constructor(seed: WorldSeed, settings: EmulatorSettings, keeper?: SessionKeeper) {
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
    this.#keeper = keeper
    for (const { start, changes } of keeper?.read(this.agents) ?? []) {
      const record = this.#register(start)
      for (const change of changes) applyChange(record, change)
    }
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

  /** The tenant whose agent it is. */
  tenantIdOfAgent({ details }: AgentSeed): string {
    return this.tenantIdOfDepartment(details.departmentId)
  }

  /** Adds a session without a conversation, and returns its record. */
  addSession(start: SessionStart): SessionRecord {
    this.#keeper?.begin(start)
    return this.#register(start)
  }

  /** Removes a session. Its record stays readable. Returns false when there is none. */
  forgetSession(id: string): boolean {
    this.#keeper?.remove(id)
    return this.sessions.delete(id)
  }

  /** Removes all sessions. */
  forgetSessions(): void {
    for (const id of [...this.sessions.keys()]) this.forgetSession(id)
  }

  /** Keeps the changes of one step in the life of a session, and applies them. */
  commit(record: SessionRecord, ...changes: readonly SessionChange[]): void {
    if (this.#keeper && this.sessions.get(record.id) === record) this.#keeper.add(record.id, changes)
    for (const change of changes) applyChange(record, change)
  }

  #register(start: SessionStart): SessionRecord {
    const record = createSessionRecord(start, this.#settings)
    this.sessions.set(record.id, record)
    this.records.set(record.id, record)
    return record
  }
}
