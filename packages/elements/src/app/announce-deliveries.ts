import type { ConversationMessage } from '@aiagent/view'
import type { ChatSettings } from './chat-settings.ts'

/** How long changes are collected before they are announced, in milliseconds: a lost connection changes many messages in turn. */
const COLLECT_MS = 500

/** Announces changes in the delivery of the user's messages. */
export interface DeliveryAnnouncements {
  /** @param isEnded whether the conversation has ended: the chat then hides the state of messages that the agent has answered */
  update(messages: readonly ConversationMessage[], settings: ChatSettings, isEnded: boolean): void
  stop(): void
}

/**
 * Announces changes in the delivery of the user's messages, with one sentence for all messages that have entered the same state
 * together. A sent message is announced only if it was queued, had failed or was in doubt. States left by an earlier page are not
 * announced.
 */
export function createDeliveryAnnouncements(): DeliveryAnnouncements {
  /** Ids of all messages so far. */
  const seen = new Set<string>()
  /** The last of these states of each message. */
  const known = new Map<string, 'queued' | 'unknown' | 'failed'>()
  let newest: readonly ConversationMessage[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const say = ({ announcer, strings }: ChatSettings) => {
    timer = undefined
    const counts = { unknown: 0, failed: 0, sent: 0 }
    for (const { author, id, delivery } of newest) {
      if (author !== 'user' || known.get(id) === delivery) continue
      if (delivery === 'queued' || delivery === 'unknown' || delivery === 'failed') {
        if (delivery !== 'queued') counts[delivery]++
        known.set(id, delivery)
      } else if (delivery !== 'sending' && known.delete(id) && delivery !== 'cancelled') counts.sent++
    }
    const { unknown, failed, sent } = counts
    if (unknown) announcer.say(unknown > 1 ? strings.manyUnknown(unknown) : strings.unknown)
    if (failed) announcer.say(failed > 1 ? strings.manyFailed(failed) : strings.failed)
    if (sent) announcer.say(strings.manySent(sent))
  }
  return {
    update(messages, settings, isEnded) {
      const last = messages.findLastIndex(({ id }) => seen.has(id))
      for (const [index, { id, delivery }] of messages.entries()) {
        // Behind what was there, the message is of this page.
        const isLeft = !seen.has(id) && (last < 0 || index < last)
        if (isLeft && (delivery === 'unknown' || delivery === 'failed')) known.set(id, delivery)
        seen.add(id)
      }
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
