import type { ConversationMessage } from '@aiagent/view'
import type { ChatSettings } from './chat-settings.ts'

/** How long changes are collected before they are said, in milliseconds: a lost connection changes many messages, one after the other. */
const COLLECT_MS = 500

/** Says what becomes of the user's messages. */
export interface DeliveryAnnouncements {
  /** @param isEnded whether the conversation has ended: no state of a message is shown then that the agent has answered */
  update(messages: readonly ConversationMessage[], settings: ChatSettings, isEnded: boolean): void
  stop(): void
}

/**
 * Announces what becomes of the user's messages, in one sentence for each state that some have entered together. That a message was
 * sent is news only where it has waited, was not sent before, or was in doubt. What an earlier page has left is not said.
 */
export function createDeliveryAnnouncements(): DeliveryAnnouncements {
  const since = Date.now()
  /** The last of these states of each message. */
  const told = new Map<string, 'queued' | 'unknown' | 'failed'>()
  let newest: readonly ConversationMessage[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const say = ({ announcer, strings }: ChatSettings) => {
    timer = undefined
    const counts = { unknown: 0, failed: 0, sent: 0 }
    for (const { author, id, delivery, time } of newest) {
      if (author !== 'user' || told.get(id) === delivery) continue
      if (delivery === 'queued' || delivery === 'unknown' || delivery === 'failed') {
        if (delivery !== 'queued' && (told.has(id) || time >= since)) counts[delivery]++
        told.set(id, delivery)
      } else if (delivery !== 'sending' && told.delete(id) && delivery !== 'cancelled') counts.sent++
    }
    const { unknown, failed, sent } = counts
    if (unknown) announcer.say(unknown > 1 ? strings.manyUnknown(unknown) : strings.unknown)
    if (failed) announcer.say(failed > 1 ? strings.manyFailed(failed) : strings.failed)
    if (sent) announcer.say(strings.manySent(sent))
  }
  return {
    update(messages, settings, isEnded) {
      newest = isEnded
        ? messages.slice(messages.findLastIndex(({ author, mark }) => author !== 'user' && !mark) + 1)
        : messages
      timer ??= setTimeout(say, COLLECT_MS, settings)
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
