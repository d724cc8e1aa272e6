import type { AiAgent, TranscriptEntry } from '@aiagent/client'
import type { ConversationEscalation } from './conversation-message.ts'
import { type DeskConnection, openDesk } from './desk-connection.ts'
import { DeskOffer } from './desk-offer.ts'
import { DeskRecord, type RecordedDesk } from './desk-record.ts'
import { DeskScope } from './desk-scope.ts'
import { DeskTabs } from './desk-tabs.ts'
import { DeskViews } from './desk-views.ts'
import type { OpenLiveDesk } from './live-desk.ts'
import type { ViewPlatform } from './view-platform.ts'
import type { ViewStore } from './view-store.ts'

/** How long a new page waits for the end of the page before, and a message for a store, in milliseconds. */
const RELOAD_MS = 5_000

const ELSEWHERE = 'The conversation goes on with a colleague in another tab.'

/** The live desk of an agent, which its views share. */
export type Desk = ReturnType<typeof createDesk>

const desks = new WeakMap<AiAgent, Desk>()

/**
 * Adds a view to the live desk of its agent.
 *
 * @param before the last escalation that is not offered
 */
export function joinDesk(
  agent: AiAgent,
  store: ViewStore,
  platform: ViewPlatform,
  escalate: OpenLiveDesk,
  before?: ConversationEscalation,
): Desk {
  const shared = desks.get(agent)
  if (shared) {
    shared.add(store, escalate)
    return shared
  }
  const desk = createDesk(agent, platform, new DeskViews(agent, store, escalate), before)
  desks.set(agent, desk)
  return desk
}

/*
 * The live desk of a conversation, as one tab knows it:
 *
 *   none ── the agent hands over ──► open here ── left, ended, failed ──► none
 *    │ ▲
 *    │ └── its lock is free ──┐
 *    └── another tab has it ──► open elsewhere
 *
 * A sign-out leads to `none` from everywhere, and removes all messages.
 */

function createDesk(agent: AiAgent, platform: ViewPlatform, views: DeskViews, before?: ConversationEscalation) {
  const record = new DeskRecord(views, platform.now)
  let connection: DeskConnection | undefined
  /** The desk that the user has asked for. */
  let asking: Promise<boolean> | undefined
  let restoring: Promise<void> = Promise.resolve()

  /** Begins the parts of a user and a conversation. */
  const enter = (before?: ConversationEscalation) => {
    const scope = new DeskScope(agent, platform, views, record)
    const tabs = new DeskTabs(scope)
    return { scope, tabs, offer: new DeskOffer(scope, tabs, before) }
  }
  let present = enter(before)

  /** Ends them. The messages stay. */
  const leave = () => {
    present.scope.end()
    present = enter()
    views.change({ desk: undefined })
  }

  const forget = () => {
    connection?.end()
    leave()
    record.clear()
  }

  const open = ({ scope, tabs }: typeof present, escalation: ConversationEscalation, handle?: string) => {
    tabs.announce()
    connection = openDesk(scope, tabs, escalation, handle)
  }

  /** Offers an escalation that has arrived. */
  const notice = async () => {
    const parts = present
    // The desk of the page before comes first.
    await restoring
    const escalation = await parts.offer.next()
    if (escalation) open(parts, escalation)
  }

  /** Opens another desk for an escalation that was offered before. Resolves with false where the host has none now. */
  const ask = async (parts: typeof present, escalation: ConversationEscalation) => {
    const before = connection
    if (!(await parts.tabs.acquire())) return false
    // The agent has handed over meanwhile.
    if (connection === before) open(parts, escalation)
    else if (!record.open) parts.tabs.release()
    return record.open !== undefined
  }

  /** Continues with the desk of the previous page. */
  const reopen = async (parts: typeof present, { escalation, handle }: RecordedDesk) => {
    const { scope, tabs, offer } = parts
    const limit = new AbortController()
    void scope.pause(RELOAD_MS).then(() => limit.abort())
    if (escalation && handle !== undefined && (await tabs.acquire(limit.signal))) {
      offer.skip()
      open(parts, escalation, handle)
    }
    if (scope.signal.aborted || record.open) return
    record.mark('desk_closed')
    record.save()
    views.change()
  }

  const restore = async (parts: typeof present) => {
    await views.first.stored()
    const { desk } = Object(await agent.getSessionData()) as { desk?: unknown }
    if (parts.scope.signal.aborted || record.isRead || agent.status.phase.at !== 'ready') return
    const before = record.read(desk)
    views.change()
    if (before && !record.open) await reopen(parts, before)
    await parts.tabs.look()
  }

  const begin = () => {
    void present.tabs.follow()
    const work = restore(present).catch(cause => views.fail('The live desk could not be opened again.', cause))
    // A store may take long, and what the user writes must not wait for it.
    restoring = Promise.race([work, present.scope.pause(RELOAD_MS)])
  }

  const undo = [
    agent.subscribe('phaseChanged', ({ payload: { at } }) => {
      if (at === 'ready') begin()
      if (at === 'leaving') forget()
      if (at === 'destroyed') leave()
    }),
    agent.subscribe('stateChanged', () => void present.tabs.follow()),
    agent.subscribe('transcriptUpdate', ({ payload }: { payload: { entry: TranscriptEntry } }) => {
      if (payload.entry.direction === 'received') void notice()
    }),
    agent.subscribe('messagesRecovered', () => void notice()),
    agent.subscribe('transcriptRestored', () => present.offer.skip()),
    agent.subscribe('transcriptCleared', () => {
      // A view that was added later has not heard of it yet, and shows these messages above a new conversation.
      views.leave()
      forget()
      // What was stored is replaced.
      record.read(undefined)
      void present.tabs.follow()
    }),
  ]
  if (agent.status.phase.at === 'ready') begin()
  void notice()

  return {
    /** Shows the desk in a view. */
    add: (store: ViewStore, escalate: OpenLiveDesk) => views.add(store, escalate),
    /** Settles when the desk of the previous page is open again, or cannot be opened soon. */
    restored: () => restoring,
    /**
     * Sends text to the open desk, otherwise to the agent.
     *
     * @param isForAgent true for the answer to a question of the agent
     * @throws {MessageError} reason `masking_unavailable`; `invalid` while the desk is open in another tab
     */
    async send(store: ViewStore, text: string, isForAgent: boolean): Promise<string> {
      if (present.tabs.isElsewhere) throw store.refusal(ELSEWHERE)
      if (record.open && connection && !isForAgent) return connection.send(store, text)
      // The user goes on with the agent, as the error of a desk that has failed proposes.
      if (!record.open) views.settle()
      return present.offer.watch(store.send(text))
    },
    /**
     * Sends a message to the desk again that was not confirmed. Returns false for messages of no desk, and in other states.
     *
     * @throws {MessageError} reason `invalid` where the desk has closed
     */
    retry(store: ViewStore, id: string): boolean {
      const item = record.find(id)
      if (item?.delivery !== 'unknown') return false
      if (!record.open || !record.isOfLast(id))
        throw store.refusal('The chat with this colleague has ended. Pass the text to `send()` to send it again.')
      connection?.deliver(item)
      return true
    },
    /**
     * Opens a desk for the escalation of a message. Resolves with whether one is open.
     *
     * @throws {MessageError} reason `invalid` while a desk is open in another tab
     */
    async open(store: ViewStore, escalation: ConversationEscalation): Promise<boolean> {
      const parts = present
      await restoring
      await parts.tabs.look()
      if (parts.tabs.isElsewhere) throw store.refusal(ELSEWHERE)
      if (record.open) return true
      asking ??= ask(parts, escalation).finally(() => {
        asking = undefined
      })
      return asking
    },
    /** The user goes back to the agent. */
    end() {
      connection?.end()
      connection?.close()
    },
    /** A view ends. With the last one the desk is released, and the next view opens it again. */
    remove(store: ViewStore) {
      if (!views.remove(store)) return
      desks.delete(agent)
      for (const each of undo) each()
      present.scope.end()
    },
  }
}
