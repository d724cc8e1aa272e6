import type { ConversationEscalation, ConversationMessage } from './conversation-message.ts'
import type { DeskFields } from './desk-record.ts'
import type { DeskScope } from './desk-scope.ts'
import type { DeskTabs } from './desk-tabs.ts'
import type { ConversationDesk, LiveDesk, LiveDeskContext, LiveDeskMessage } from './live-desk.ts'
import type { ViewStore } from './view-store.ts'

/** Time after which a message that the desk has not confirmed is `unknown`, in milliseconds. */
const SEND_LIMIT_MS = 30_000

/** Turns of the microtask queue after which nothing more is expected of a desk that delivers what it has. */
const LAST_TURNS = 20

/** Number of items after which the page gets time for other work, as when a desk delivers all that was missed. */
const BATCH = 100

/** A desk of the host that is open in this tab, until it closes. */
export type DeskConnection = ReturnType<typeof connectDesk>

/**
 * Opens a desk of the host, which this tab has acquired.
 *
 * @param handle of the desk that the page before had open
 * @returns undefined where the host has none
 */
export function openDesk(
  scope: DeskScope,
  tabs: DeskTabs,
  escalation: ConversationEscalation,
  handle?: string,
): DeskConnection | undefined {
  const controller = new AbortController()
  const { signal } = controller
  try {
    const conversation = conversationOf(scope)
    const live = scope.views.escalate?.(escalation, { conversation, signal, ...(handle !== undefined && { handle }) })
    if (live) return connectDesk(scope, tabs, live, controller, escalation, handle)
  } catch (cause) {
    scope.views.fail('The live desk could not be opened. The conversation continues with the agent.', cause)
  }
  tabs.release()
  controller.abort()
  return undefined
}

/** The messages of the present session that were sent, without what opens the session. */
function conversationOf({ views }: DeskScope): readonly LiveDeskContext[] {
  const context = views.first.list.present().flatMap(({ sessionId: _, data: __, ...message }) => {
    const { delivery } = message
    const isUnsent = delivery === 'queued' || delivery === 'failed' || delivery === 'cancelled'
    return isUnsent ? [] : [Object.freeze(message)]
  })
  return Object.freeze(context)
}

const isInDoubt = ({ delivery }: ConversationMessage) => delivery === 'unknown'

function connectDesk(
  scope: DeskScope,
  tabs: DeskTabs,
  live: LiveDesk,
  controller: AbortController,
  escalation: ConversationEscalation,
  handle: string | undefined,
) {
  const { agent, views, record } = scope
  const { signal } = controller
  // The function of the host may have signed the user out.
  if (handle === undefined && !scope.signal.aborted) record.mark('desk_opened')
  const known = record.ofLast()
  const opened = known.find(({ mark }) => mark === 'desk_opened')
  // Who was there has left with the last such mark.
  const left = known.findLastIndex(({ mark }) => mark === 'desk_left')
  const present = known.slice(left + 1)
  let name = present.findLast(({ mark }) => mark)?.authorName
  let hasJoined = name !== undefined || present.some(({ author, mark }) => author === 'colleague' && !mark)
  /** Whether a colleague was named, or has left: who joins then is another one. */
  let isFollowed = left >= 0 || name !== undefined
  let since = (known[left] ?? opened)?.time ?? scope.platform.now()
  let shown: ConversationDesk | undefined
  /** Number of items that have arrived. */
  let received = 0
  /** Texts that have arrived, and are not in the list yet. */
  let arrived: DeskFields[] = []
  /** The pause between two batches. */
  let pause: Promise<unknown> | undefined

  /** Asks the desk to end the chat. What becomes of that is of no interest here. */
  const end = () => {
    if (signal.aborted) return
    new Promise(resolve => resolve(live.end())).catch(error =>
      views.log('warn', 'The live desk could not be ended.', error),
    )
  }

  /** Ends the connection, and nothing that is shown. */
  const release = () => {
    record.open = undefined
    tabs.release()
    controller.abort()
  }

  /** Adds what has arrived to the list, at once: so the list is placed, shown and stored once. */
  const show = () => {
    if (signal.aborted) return
    const added = arrived.filter(each => record.add(each) !== undefined)
    arrived = []
    if (added.length > 0) record.save()
    for (const _ of added) views.count()
  }

  /** @param leaver name of the colleague, if it was the colleague who has left */
  const close = (leaver?: string, failure?: { cause: unknown }) => {
    show()
    if (signal.aborted) return
    release()
    record.mark('desk_closed', leaver)
    record.save()
    views.settle()
    views.change({ desk: undefined })
    if (failure) views.fail('The live desk failed. The conversation continues with the agent.', failure.cause)
  }

  /** A colleague whose name is known has joined. */
  const join = (newName: string | undefined) => {
    name = newName
    // Messages that arrived earlier come before the mark.
    if (isFollowed) {
      show()
      record.mark('desk_joined', name)
    } else if (opened) record.change(opened.id, { authorName: name })
    isFollowed = true
  }

  /** The colleague has left, and the user waits for another one. */
  const leave = () => {
    show()
    if (!hasJoined) return
    record.mark('desk_left', name)
    name = undefined
    hasJoined = false
    isFollowed = true
    since = scope.platform.now()
  }

  /** Reads what the desk may have changed. Until it has a handle, that of the page before counts. */
  const refresh = () => {
    try {
      const { name: newName = name, handle: newHandle = handle, typing } = live
      if (signal.aborted) return
      const isChanged = !record.open || newName !== name || newHandle !== record.open.handle
      if (newName === null) leave()
      else if (newName !== name) join(newName)
      hasJoined ||= name !== undefined || typing === true
      record.open = { escalation, handle: newHandle }
      if (isChanged) record.save()
      const waitingSince = hasJoined ? undefined : since
      const isTyping = typing === true
      if (shown?.waitingSince === waitingSince && shown?.name === name && shown?.isTyping === isTyping) return
      shown = { isElsewhere: false, waitingSince, name, isTyping }
      views.change({ desk: shown })
    } catch (cause) {
      close(undefined, { cause })
    }
  }

  const receive = (item: string | LiveDeskMessage) => {
    received++
    const { text, id, time } = (typeof item === 'string' ? { text: item } : Object(item)) as LiveDeskMessage
    const isText = typeof text === 'string' && text.trim() !== ''
    hasJoined ||= isText
    refresh()
    if (isText) arrived.push({ author: 'colleague', authorName: name, time, content: text, messageId: id })
  }

  /** Resolves when nothing has arrived for some turns. */
  const quiet = async () => {
    for (let before = -1; before !== received; ) {
      before = received
      await pause
      for (let turn = 0; turn < LAST_TURNS; turn++) await undefined
    }
  }

  const consume = async () => {
    try {
      for await (const item of live.messages) {
        if (signal.aborted) return
        receive(item)
        if (arrived.length === 1) void quiet().then(show)
        if (received % BATCH > 0) continue
        show()
        await (pause = new Promise<void>(resolve => scope.platform.queueTask?.(resolve)))
      }
      close(name)
    } catch (cause) {
      close(undefined, { cause })
    }
  }

  /** The colleague has left: what was said before arrives first. */
  const finish = async () => {
    await quiet()
    close(name)
  }

  const deliver = ({ id, content }: Pick<ConversationMessage, 'id' | 'content'>) => {
    const attempt = record.change(id, { delivery: 'sending' })
    const settle = (delivery: 'acknowledged' | 'unknown', message?: string, cause?: unknown) => {
      const item = record.find(id)
      // The user may have left meanwhile. Of an attempt before the last one, only the success counts.
      if (!item || item.delivery === 'acknowledged' || (message !== undefined && item !== attempt)) return
      record.change(id, { delivery })
      record.save()
      views.change()
      if (message !== undefined) views.fail(message, cause, 'DESK_MESSAGE_FAILED')
      else if (!record.ofLast().some(isInDoubt)) views.settle('DESK_MESSAGE_FAILED')
      refresh()
    }
    views.change()
    void scope.pause(SEND_LIMIT_MS).then(() => {
      const message = `The live desk has not confirmed a message for ${SEND_LIMIT_MS / 1000} s.`
      if (!scope.signal.aborted) settle('unknown', message)
    })
    new Promise<void>(resolve => resolve(live.send(content))).then(
      () => settle('acknowledged'),
      cause => settle('unknown', 'A message could not be sent to the live desk.', cause),
    )
  }

  /**
   * Masks text of the user, and sends it. Returns the id of its message.
   *
   * @throws {MessageError} reason `masking_unavailable`
   */
  const send = (store: ViewStore, text: string): string => {
    const preview = agent.previewMasking(text)
    if (preview.isBlocked)
      throw store.refusal(
        'The message was not sent to the live desk: masking is required, and no rules are active.',
        'masking_unavailable',
      )
    show()
    const { content } = preview
    const maskedRanges = views.first.list.mask(preview)
    const id = record.add({ author: 'user', authorName: 'customer', content, maskedRanges }) as string
    deliver({ id, content })
    record.save()
    return id
  }

  if (scope.signal.aborted) {
    end()
    release()
  } else {
    scope.signal.addEventListener('abort', release, { signal })
    views.settle()
    refresh()
    void consume()
    new Promise<void>(resolve => resolve(live.ended)).then(finish, cause => close(undefined, { cause }))
  }
  return { send, deliver, end, close }
}
