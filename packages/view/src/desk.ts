import type { AiAgent, TranscriptEntry } from '@aiagent/client'
import type { DESK_FAILED } from './conversation-error.ts'
import type { ConversationEscalation } from './conversation-message.ts'
import { createDeskItems } from './desk-items.ts'
import { hold, isHeld, type Release } from './desk-lock.ts'
import type { LiveDesk, LiveDeskMessage, OpenLiveDesk } from './live-desk.ts'
import type { ViewPlatform } from './view-platform.ts'
import type { ViewStore } from './view-store.ts'

/** Time after which a message that the desk has not confirmed is `unknown`, in milliseconds. */
const SEND_LIMIT_MS = 30_000

/** How long a tab leaves an escalation to the tab in which the user wrote last, in milliseconds. */
const DEFER_MS = 1_000

/** How long a new page waits for the end of the page before, in milliseconds. */
const RELOAD_MS = 5_000

/** Turns of the microtask queue in which a desk that has ended may still deliver a message. */
const LAST_TURNS = 20

/** The live desk of a view. */
export interface Desk {
  /**
   * Sends text to the open desk, otherwise to the agent.
   *
   * @param isForAgent true for the answer to a question of the agent
   * @throws {MessageError} reason `masking_unavailable`; `invalid` while the desk is open in another tab
   */
  send(text: string, isForAgent: boolean): Promise<string>
  /** Sends a message to the desk again that was not confirmed. Returns false for messages that are not of the open desk. */
  retry(id: string): boolean
  /** The user goes back to the agent. */
  end(): void
  /** The view ends. The next one opens the desk again. */
  destroy(): void
}

/** A desk that is open in this tab. */
interface OpenDesk {
  readonly live: LiveDesk
  readonly escalation: ConversationEscalation
  readonly controller: AbortController
  /** Give back the locks of the sessions in which it is open. */
  readonly releases: Release[]
  /** Number of items that have arrived. */
  received: number
  name?: string | undefined
  handle?: string | undefined
  isTyping?: boolean
}

/** What is stored of a desk that was open, as any page may have stored it. */
interface StoredDesk {
  readonly id?: unknown
  readonly count?: unknown
  readonly isOpen?: unknown
  readonly handle?: unknown
  readonly escalation?: ConversationEscalation
  readonly items?: unknown
}

/** An error of the desk, as the snapshot has it. */
class DeskError extends Error {
  override readonly name = 'DeskError'
  readonly code: typeof DESK_FAILED = 'DESK_FAILED'
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

/** @param before the escalation that the list had when the view was created */
export function createDesk(
  agent: AiAgent,
  store: ViewStore,
  platform: ViewPlatform,
  escalate: OpenLiveDesk,
  before?: ConversationEscalation,
): Desk {
  const { list } = store
  const { locks, now } = platform
  const items = createDeskItems(list)
  const undo: (() => void)[] = []
  const timers = new Set<() => void>()
  let open: OpenDesk | undefined
  let isElsewhere = false
  /** Distinguishes the messages of several desks. */
  let deskId = ''
  let count = 0
  /** The last escalation that was seen. */
  let known = before
  /** Ids of the messages that this view has sent to the agent. */
  const sent = new Set<string>()
  /** Counts what other tabs have said about their desks. */
  let heard = 0
  /** What is stored was read. */
  let isRestored = false
  let restoring: Promise<void> = Promise.resolve()
  /** The session in which tabs share the desk. */
  let session: string | undefined
  /** Ends what waits for a lock, or for its time, in this session and of this user. */
  let scope = new AbortController()
  let channel: ReturnType<NonNullable<ViewPlatform['createChannel']>>

  const lockName = () => `aiagent-desk-${session}`

  const show = () => {
    const { name, isTyping = false } = open ?? {}
    store.change({ desk: open || isElsewhere ? { isElsewhere: !open, name, isTyping } : undefined })
  }

  const save = () => {
    const { handle, escalation } = open ?? {}
    const desk = { id: deskId, count, isOpen: open !== undefined, handle, escalation, items: items.toStored() }
    list.keep({ ...list.kept(), desk })
    store.save()
  }

  const after = (ms: number, work: () => void) => {
    const stop = platform.setTimer(() => {
      timers.delete(stop)
      work()
    }, ms)
    timers.add(stop)
    return () => {
      timers.delete(stop)
      stop()
    }
  }

  const newId = () => `desk ${deskId} ${++count}`

  const mark = (mark: 'desk_opened' | 'desk_closed', authorName: string | undefined) =>
    items.add({ id: newId(), author: 'colleague', authorName, mark, time: now(), content: '' })

  const fail = (message: string, cause: unknown) => {
    agent.logger.error(message, { error: cause })
    store.change({ error: new DeskError(message, { cause }) })
  }

  /** Ends the connection of the desk, and nothing that is shown. */
  const detach = () => {
    const at = open
    open = undefined
    for (const release of at?.releases ?? []) release()
    at?.controller.abort()
  }

  const close = (at: OpenDesk, failure?: { cause: unknown }) => {
    if (open !== at) return
    detach()
    mark('desk_closed', at.name)
    save()
    show()
    if (failure) fail('The live desk failed. The conversation continues with the agent.', failure.cause)
  }

  /** Ends the chat at the desk. What becomes of that is of no interest here. */
  const endLive = ({ live }: OpenDesk) => {
    new Promise(resolve => resolve(live.end())).catch(error =>
      agent.logger.warn('The live desk could not be ended.', { error }),
    )
  }

  /** Reads what a desk may have changed. */
  const refresh = (at: OpenDesk) => {
    if (open !== at) return
    try {
      const { name, handle, typing } = at.live
      const isChanged = name !== at.name || handle !== at.handle
      Object.assign(at, { name, handle, isTyping: typing === true })
      if (isChanged) save()
      show()
    } catch (cause) {
      close(at, { cause })
    }
  }

  const receive = (at: OpenDesk, item: string | LiveDeskMessage) => {
    at.received++
    refresh(at)
    const { text, id, time } = (typeof item === 'string' ? { text: item } : Object(item)) as LiveDeskMessage
    const itemId = id === undefined ? newId() : `desk ${deskId} at ${id}`
    if (open !== at || typeof text !== 'string' || !text.trim() || items.find(itemId)) return
    items.add({
      id: itemId,
      author: 'colleague',
      authorName: at.name,
      time: time ?? now(),
      content: text,
      messageId: id,
    })
    save()
    store.change({ unread: store.getSnapshot().unread + 1 })
  }

  const consume = async (at: OpenDesk) => {
    try {
      for await (const item of at.live.messages) {
        if (open !== at) return
        receive(at, item)
      }
      close(at)
    } catch (cause) {
      close(at, { cause })
    }
  }

  /** The colleague has left: what was said before arrives first. */
  const finish = async (at: OpenDesk) => {
    for (let received = -1; received !== at.received; ) {
      received = at.received
      for (let turn = 0; turn < LAST_TURNS; turn++) await undefined
    }
    close(at)
  }

  const deliver = ({ live }: OpenDesk, id: string, content: string) => {
    const settle = (delivery: 'acknowledged' | 'failed' | 'unknown', cause?: unknown) => {
      stop()
      // The user may have left meanwhile, or a later attempt has arrived.
      const item = items.find(id)
      if (!item || item.delivery === 'acknowledged') return
      items.change(id, { delivery })
      store.change()
      save()
      if (delivery !== 'acknowledged')
        fail(
          delivery === 'failed'
            ? 'A message could not be sent to the live desk.'
            : `The live desk has not confirmed a message for ${SEND_LIMIT_MS / 1000} s.`,
          cause,
        )
      if (open?.live === live) refresh(open)
    }
    const stop = after(SEND_LIMIT_MS, () => settle('unknown'))
    items.change(id, { delivery: 'sending' })
    store.change()
    new Promise<void>(resolve => resolve(live.send(content))).then(
      () => settle('acknowledged'),
      cause => settle('failed', cause),
    )
  }

  const say = (at: OpenDesk, text: string): string => {
    const preview = agent.previewMasking(text)
    if (preview.isBlocked)
      throw store.refusal(
        'The message was not sent to the live desk: masking is required, and no rules are active.',
        'masking_unavailable',
      )
    const { content } = preview
    const ranges = list.mask(preview)
    const id = newId()
    items.add({
      id,
      author: 'user',
      authorName: 'customer',
      time: now(),
      content,
      maskedRanges: ranges,
      delivery: 'sending',
    })
    deliver(at, id, content)
    save()
    return id
  }

  /** Opens the desk. The lock is held. */
  const start = (escalation: ConversationEscalation, release: Release, handle?: string) => {
    const at = scope
    const controller = new AbortController()
    const { signal } = controller
    let live: LiveDesk | undefined
    try {
      live = escalate(escalation, handle === undefined ? { signal } : { handle, signal })
    } catch (cause) {
      fail('The live desk could not be opened. The conversation continues with the agent.', cause)
    }
    const opened = live && { live, escalation, controller, releases: [release], received: 0 }
    // The function of the host may have signed the user out.
    if (!opened || at.signal.aborted) {
      if (opened) endLive(opened)
      controller.abort()
      release()
      return
    }
    open = opened
    if (handle === undefined) {
      deskId = `${now()}.${count}`
      mark('desk_opened', undefined)
      save()
    }
    refresh(opened)
    void consume(opened)
    new Promise<void>(resolve => resolve(opened.live.ended)).then(
      () => finish(opened),
      cause => close(opened, { cause }),
    )
  }

  /** Id of the last message of the user to the agent. */
  const lastQuestion = () => list.get().findLast(each => each.author === 'user' && !items.find(each.id))?.id

  /** Whether nothing was said to the agent since. */
  const isLast = (escalation: ConversationEscalation) =>
    list.get().findLast(each => (each.author === 'user' && !items.find(each.id)) || each.escalation)?.escalation ===
    escalation

  const offer = async (escalation: ConversationEscalation) => {
    const { signal } = scope
    const before = heard
    const isStale = () => signal.aborted || heard !== before || open !== undefined || !isLast(escalation)
    if (isStale() || isElsewhere) return
    if (await isHeld(locks, lockName())) return look()
    const release = await hold(locks, lockName(), signal)
    if (!release) return
    if (isStale()) return release()
    // The other tabs leave the escalation to this one, whether the host opens a desk or not.
    channel?.postMessage('desk')
    start(escalation, release)
  }

  /** Looks whether a desk is open in another tab. Resolves when that is known; its end is noticed later. */
  const look = async () => {
    const { signal } = scope
    if (open || isElsewhere || !(await isHeld(locks, lockName()))) return
    if (open || isElsewhere || signal.aborted) return
    isElsewhere = true
    show()
    void hold(locks, lockName(), signal).then(release => {
      release?.()
      if (signal.aborted) return
      isElsewhere = false
      show()
    })
  }

  /** Offers an escalation that has arrived. */
  const notice = () => {
    const escalation = list.escalation()
    if (!escalation || escalation === known) return
    known = escalation
    const { signal } = scope
    if (sent.has(lastQuestion() ?? '')) return void offer(escalation)
    const before = heard
    after(DEFER_MS, () => {
      if (!signal.aborted && heard === before) void offer(escalation)
    })
  }

  /** Continues with the desk of the page before. */
  const reopen = async ({ id, count: counted, isOpen, handle, escalation, items: stored }: StoredDesk) => {
    if (isOpen === undefined) return
    items.read(stored)
    deskId = String(id)
    count = Number(counted) || 0
    store.change()
    if (!isOpen) return save()
    const { signal } = scope
    const limit = new AbortController()
    const end = () => limit.abort()
    signal.addEventListener('abort', end)
    const stop = after(RELOAD_MS, end)
    const canOpen = typeof handle === 'string' && escalation
    const release = canOpen ? await hold(locks, lockName(), limit.signal) : undefined
    stop()
    signal.removeEventListener('abort', end)
    if (signal.aborted) return release?.()
    if (release && canOpen) {
      known = list.escalation()
      channel?.postMessage('desk')
      start(escalation, release, handle)
    }
    if (open) return
    mark('desk_closed', undefined)
    save()
    store.change()
  }

  const restore = async () => {
    const { signal } = scope
    await store.stored()
    const data = Object(await agent.getSessionData()) as { desk?: unknown }
    if (signal.aborted || isRestored || agent.status.phase.at !== 'ready') return
    isRestored = true
    await reopen(Object(data.desk))
    await look()
  }

  /** The conversation is in another session: what is shared and stored goes with it. */
  const follow = async () => {
    const next = agent.getSessionId() ?? undefined
    if (next === session || next === undefined) return
    session = next
    const at = open
    channel?.close()
    channel = platform.createChannel?.(lockName())
    if (channel)
      channel.onmessage = () => {
        heard++
        void look()
      }
    if (!at) return
    save()
    const release = await hold(locks, lockName(), at.controller.signal)
    if (release && open === at) at.releases.push(release)
    else release?.()
    channel?.postMessage('desk')
  }

  const begin = () => {
    void follow()
    const { signal } = scope
    const work = restore().catch(cause => fail('The live desk could not be opened again.', cause))
    // A store may take long, and what the user writes must not wait for it.
    const limit = new Promise<void>(resolve => {
      after(RELOAD_MS, resolve)
      signal.addEventListener('abort', () => resolve())
    })
    restoring = Promise.race([work, limit])
  }

  /** Ends everything of the present user or page. */
  const stop = () => {
    scope.abort()
    scope = new AbortController()
    for (const each of timers) each()
    timers.clear()
    channel?.close()
    channel = session = undefined
    isElsewhere = false
    detach()
  }

  /** The messages and the desk go. */
  const forget = () => {
    if (open) endLive(open)
    stop()
    items.clear()
  }

  undo.push(
    agent.subscribe('phaseChanged', ({ payload: { at } }) => {
      if (at === 'ready') begin()
      if (at === 'leaving') {
        forget()
        isRestored = false
        known = undefined
        sent.clear()
      }
      if (at === 'destroyed') {
        stop()
        show()
      }
    }),
    agent.subscribe('stateChanged', () => void follow()),
    agent.subscribe('transcriptUpdate', ({ payload }: { payload: { entry: TranscriptEntry } }) => {
      if (payload.entry.direction === 'received') notice()
    }),
    agent.subscribe('messagesRecovered', notice),
    agent.subscribe('transcriptRestored', () => {
      known = list.escalation()
    }),
    agent.subscribe('transcriptCleared', () => {
      forget()
      list.keep({ ...list.kept(), desk: undefined })
      known = undefined
      store.save()
      show()
      void follow()
      void look()
    }),
  )
  if (agent.status.phase.at === 'ready') begin()
  // What was restored before this code was loaded is not unread.
  if (store.getSnapshot().unread === 0) known = list.escalation()
  notice()

  return {
    async send(text, isForAgent) {
      await restoring
      if (isElsewhere) throw store.refusal('The conversation goes on with a colleague in another tab.')
      if (open && !isForAgent) return say(open, text)
      const work = store.send(text)
      // An agent that is ready has recorded it, and may answer before the promise settles.
      sent.add(lastQuestion() ?? '')
      const id = await work
      sent.add(id)
      return id
    },
    retry(id) {
      const item = items.find(id)
      if (!open || !item || (item.delivery !== 'failed' && item.delivery !== 'unknown')) return false
      deliver(open, id, item.content)
      return true
    },
    end() {
      if (!open) return
      endLive(open)
      if (open) close(open)
    },
    destroy() {
      for (const each of undo) each()
      stop()
    },
  }
}
