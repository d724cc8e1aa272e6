import { ClientMessageSchema, ContextValidationIssueSchema, ServerMessageSchema } from '@aiagent/protocol/schemas'
import * as v from 'valibot'
import type { AgentSeed } from '../world/seed.ts'
import type { SessionChange } from '../world/session-change.ts'
import type { SessionStart } from '../world/session-record.ts'
import type { StateStore } from './state-store.ts'

const text = v.string()
const time = v.pipe(v.number(), v.finite())
const attributes = v.record(text, v.unknown())

/** First entry of a session's journal. */
const StartSchema = v.object({
  version: v.literal(1),
  agentId: text,
  createdAt: time,
  subject: text,
  context: attributes,
  contextIssues: v.array(ContextValidationIssueSchema),
})

const ChangeSchema = v.variant('type', [
  v.object({ type: v.literal('opened'), callId: v.exactOptional(text), fence: v.exactOptional(v.number()) }),
  v.object({ type: v.literal('told') }),
  v.object({ type: v.literal('accepted'), at: time, message: ClientMessageSchema, duplicate: v.boolean() }),
  v.object({ type: v.literal('said'), frame: v.intersect([ServerMessageSchema, v.looseObject({ timestamp: time })]) }),
  v.object({ type: v.literal('numbered'), frame: ServerMessageSchema }),
  v.object({ type: v.literal('answered') }),
  v.object({ type: v.literal('context'), context: attributes }),
  v.object({ type: v.literal('feedback'), rating: text, answerMessageId: text }),
  v.object({ type: v.literal('escalation'), event: v.unknown() }),
  v.object({ type: v.literal('ended') }),
])
const EntrySchema = v.array(ChangeSchema)

/** A session as it was kept. */
export interface KeptSession {
  readonly start: SessionStart
  readonly changes: readonly SessionChange[]
}

/** Keeps the sessions of a world in a store: a journal for each, whose entries are the changes of one step. */
export class SessionKeeper {
  readonly #store: StateStore

  constructor(store: StateStore) {
    this.#store = store
  }

  begin({ id, agent, createdAt, subject, context, contextIssues }: SessionStart): void {
    const { agentId } = agent.details
    this.#store.startJournal(id, { version: 1, agentId, createdAt, subject, context, contextIssues })
  }

  add(id: string, changes: readonly SessionChange[]): void {
    if (changes.length > 0) this.#store.addEntry(id, changes)
  }

  remove(id: string): void {
    this.#store.deleteJournal(id)
  }

  /** The kept sessions, oldest first. One that cannot be used is put aside; the others stay. */
  read(agents: ReadonlyMap<string, AgentSeed>): KeptSession[] {
    const kept = this.#store.readJournals().flatMap(({ id, entries }) => {
      const [first, ...further] = entries
      const start = v.safeParse(StartSchema, first)
      if (!start.success) return this.#discard(id, 'its first entry cannot be read')
      const { version: _, agentId, ...rest } = start.output
      const agent = agents.get(agentId)
      if (!agent) return this.#discard(id, `there is no agent "${agentId}"`)
      const changes: SessionChange[] = []
      for (const [index, entry] of further.entries()) {
        const read = v.safeParse(EntrySchema, entry)
        if (!read.success) return this.#discard(id, `entry ${index + 2} cannot be read`)
        // The schemas type optional fields as possibly undefined; JSON has no such fields.
        changes.push(...(read.output as SessionChange[]))
      }
      return [{ start: { id, agent, ...rest } as SessionStart, changes }]
    })
    return kept.sort((a, b) => a.start.createdAt - b.start.createdAt)
  }

  #discard(id: string, reason: string): [] {
    this.#store.discardJournal(id, reason)
    return []
  }
}
