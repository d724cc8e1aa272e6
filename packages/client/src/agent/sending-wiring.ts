import { PERSONA } from '@aiagent/protocol'
import type { Chat } from '../chat/chat.ts'
import { isContextMessage } from '../conversation/message-helpers.ts'
import type { Transcript } from '../conversation/transcript.ts'
import type { Message } from '../outbox/message.ts'
import type { QuestionGate } from '../outbox/question-gate.ts'
import type { SendingOptions } from '../outbox/sending-options.ts'
import type { StoredQueue } from '../outbox/stored-queue.ts'
import type { Page } from '../platform/page.ts'
import type { LazyPart } from '../util/lazy-part.ts'
import type { LateParts } from './agent-parts.ts'

/** Connects what sends messages with the other parts of its agent. */
export class SendingWiring implements SendingOptions {
  readonly #parts: LateParts

  constructor(parts: LateParts) {
    this.#parts = parts
  }

  get page(): Page | undefined {
    return this.#parts.early.scope.environment.page
  }

  get chat(): Chat {
    return this.#parts.chat
  }

  get questionGate(): QuestionGate | undefined {
    return this.#parts.tabs
  }

  get store(): LazyPart<StoredQueue> | undefined {
    return this.#parts.storedQueue
  }

  get transcript(): Transcript {
    return this.#parts.transcript
  }

  isOwnSession(): boolean {
    const { session, tabs } = this.#parts
    // Another tab may write the same text.
    return session.isOwn && !tabs
  }

  accepted(message: Message, size: number, isAgain?: boolean): void {
    const { tabs, transcript, recovery, early } = this.#parts
    if (isContextMessage(message)) early.context.merge(message.messageData.context)
    const isShown = (isAgain || tabs) && transcript.get().some(each => each.message.messageId === message.messageId)
    tabs?.group?.handleAccepted(message)
    if (!isShown) {
      const timestamp = message.timestamp ?? early.scope.environment.clock.now()
      transcript.record(message, 'sent', timestamp, undefined, size)
    }
    if (message.persona === PERSONA.CUSTOMER) recovery.handleSent()
  }

  found(): void {
    this.#parts.early.late.lifecycle?.connectForMessage()
  }
}
