import type { ConversationEscalation, ConversationMessage } from './conversation-message.ts'
import type { DeskScope } from './desk-scope.ts'
import type { DeskTabs } from './desk-tabs.ts'
import type { LiveDesk, LiveDeskMessage } from './live-desk.ts'
import type { ViewStore } from './view-store.ts'

/** Time after which a message that the desk has not confirmed is `unknown`, in milliseconds. */
const SEND_LIMIT_MS = 30_000

/** Turns of the microtask queue in which a desk that has ended may still deliver a message. */
const LAST_TURNS = 20

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
    const live = scope.views.escalate?.(escalation, handle === undefined ? { signal } : { handle, signal })
    if (live) return connectDesk(scope, tabs, live, controller, escalation, handle)
  } catch (cause) {
    scope.views.fail('The live desk could not be opened. The conversation continues with the agent.', cause)
  }
  tabs.release()
  controller.abort()
  return undefined
}

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
  let name: string | undefined
  /** Number of items that have arrived. */
  let received = 0

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

  const close = (failure?: { cause: unknown }) => {
    if (signal.aborted) return
    release()
    record.mark('desk_closed', name)
    record.save()
    views.change({ desk: undefined })
    if (failure) views.fail('The live desk failed. The conversation continues with the agent.', failure.cause)
  }

  /** Reads what the desk may have changed. Until it has a handle, that of the page before counts. */
  const refresh = () => {
    try {
      const { name: newName, handle: newHandle = handle, typing } = live
      if (signal.aborted) return
      const isChanged = !record.open || newName !== name || newHandle !== record.open.handle
      name = newName
      record.open = { escalation, handle: newHandle }
      if (isChanged) record.save()
      views.change({ desk: { isElsewhere: false, name, isTyping: typing === true } })
    } catch (cause) {
      close({ cause })
    }
  }

  const receive = (item: string | LiveDeskMessage) => {
    received++
    refresh()
    const { text, id, time } = (typeof item === 'string' ? { text: item } : Object(item)) as LiveDeskMessage
    if (signal.aborted || typeof text !== 'string' || !text.trim()) return
    if (!record.add({ author: 'colleague', authorName: name, time, content: text, messageId: id })) return
    record.save()
    views.count()
  }

  const consume = async () => {
    try {
      for await (const item of live.messages) {
        if (signal.aborted) return
        receive(item)
      }
      close()
    } catch (cause) {
      close({ cause })
    }
  }

  /** The colleague has left: what was said before arrives first. */
  const finish = async () => {
    for (let before = -1; before !== received; ) {
      before = received
      for (let turn = 0; turn < LAST_TURNS; turn++) await undefined
    }
    close()
  }

  const deliver = ({ id, content }: Pick<ConversationMessage, 'id' | 'content'>) => {
    const attempt = record.change(id, { delivery: 'sending' })
    const settle = (delivery: 'acknowledged' | 'failed' | 'unknown', message?: string, cause?: unknown) => {
      const item = record.find(id)
      // The user may have left meanwhile. Of an attempt before the last one, only the success counts.
      if (!item || item.delivery === 'acknowledged' || (message !== undefined && item !== attempt)) return
      record.change(id, { delivery })
      record.save()
      views.change()
      if (message !== undefined) views.fail(message, cause)
      refresh()
    }
    views.change()
    void scope.pause(SEND_LIMIT_MS).then(() => {
      const message = `The live desk has not confirmed a message for ${SEND_LIMIT_MS / 1000} s.`
      if (!scope.signal.aborted) settle('unknown', message)
    })
    new Promise<void>(resolve => resolve(live.send(content))).then(
      () => settle('acknowledged'),
      cause => settle('failed', 'A message could not be sent to the live desk.', cause),
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
    const { content } = preview
    const maskedRanges = views.first.list.mask(preview)
    const id = record.add({ author: 'user', authorName: 'customer', content, maskedRanges }) as string
    deliver({ id, content })
    record.save()
    return id
  }

  // The function of the host may have signed the user out.
  if (scope.signal.aborted) {
    end()
    release()
  } else {
    scope.signal.addEventListener('abort', release, { signal })
    if (handle === undefined) record.mark('desk_opened')
    refresh()
    void consume()
    new Promise<void>(resolve => resolve(live.ended)).then(finish, cause => close({ cause }))
  }
  return { send, deliver, end, close }
}
