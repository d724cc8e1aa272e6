import { ManualClock } from '@aiagent/test-support'
import { expect } from 'vitest'
import type { ConnectionState } from '../src/chat/connection-state.ts'
import type { Transport } from '../src/chat/transport.ts'
import { FINAL_MS, OVERDUE_MS } from '../src/conversation/recovery.ts'
import type { SDKError } from '../src/errors.ts'
import type { DeliveryMode, DeliveryUpdate } from '../src/log/delivery.ts'
import type { TranscriptConfig } from '../src/log/entry.ts'
import type { Message } from '../src/log/message.ts'
import { MessageLog } from '../src/log/message-log.ts'
import { readHistory } from '../src/log/reconcile.ts'
import { Outbox } from '../src/outbox/outbox.ts'
import type { FakePage } from './fake-page.ts'
import { listen, setUpScope } from './fake-scope.ts'

export interface OutboxSetUp {
  maxQueueSize?: number
  isReady?: boolean
  page?: FakePage
  mask?: (content: string) => string
  /** @default 20_000 */
  doubtAfterMs?: number
  /** @default 'at-most-once' */
  delivery?: DeliveryMode
  /** Whether the service confirms messages. @default false */
  hasReceipts?: boolean
  /** Whether the service repeats what was missed. @default false */
  hasResume?: boolean
  /** Settings of the transcript. */
  transcript?: TranscriptConfig
}

/** A socket in memory. */
export class FakeTransport implements Transport {
  readonly sent: string[] = []
  bufferedAmount = 0
  isBroken = false
  afterSend: () => unknown = () => {}

  /** The contents of the written frames, in order. */
  get contents(): unknown[] {
    return this.sent.map(frame => (JSON.parse(frame) as { content?: unknown }).content)
  }

  send(text: string): void {
    if (this.isBroken) throw new Error('The socket is not open.')
    this.sent.push(text)
    this.afterSend()
  }

  close(): void {}
}

/** An outbox over a chat that the test opens and closes, and a clock that stands still. */
export function setUpOutbox({
  maxQueueSize = 1_000,
  isReady = true,
  page,
  mask = text => text,
  doubtAfterMs = 20_000,
  delivery = 'at-most-once',
  hasReceipts = false,
  hasResume = false,
  transcript = {},
}: OutboxSetUp = {}) {
  const clock = new ManualClock()
  const accepted: Message[] = []
  const flushed: number[] = []
  const updates: DeliveryUpdate[] = []
  const failures: SDKError[] = []
  const warnings: [text: string, details: unknown][] = []
  const masked: [content: string, messageId: string][] = []
  const on: {
    accepted?: (message: Message) => void
    flushed?: () => void
    updated?: (update: DeliveryUpdate) => void
  } = {}
  const capabilities = [...(hasReceipts ? ['receipts'] : []), ...(hasResume ? ['resume'] : [])]
  const scope = setUpScope({
    config: {
      maxQueueSize,
      doubtAfterMs,
      delivery,
    },
    logger: { warn: (text, details) => void warnings.push([text, details]) },
    environment: { clock, ...(page && { page }) },
    capabilities,
  })
  scope.facts.sessionId = 's1'
  scope.status.isReady = isReady
  listen(scope, 'queueFlushed', ({ count }) => {
    flushed.push(count)
    on.flushed?.()
  })
  listen(scope, 'transcriptUpdate', ({ message }) => {
    accepted.push(message)
    on.accepted?.(message)
  })
  listen(scope, 'error', ({ error }) => void failures.push(error))
  listen(scope, 'deliveryUpdate', update => {
    updates.push(update)
    on.updated?.(update)
  })
  const state = {
    isOwnSession: true,
    connection: 'IDLE' as ConnectionState,
    lastInboundAt: undefined as number | undefined,
    get isReady() {
      return scope.status.isReady
    },
    set isReady(value: boolean) {
      scope.status.isReady = value
    },
    get sessionId() {
      return scope.facts.sessionId as string
    },
    set sessionId(value: string) {
      scope.facts.sessionId = value
    },
  }
  const outbox = new Outbox(scope, {
    masking: {
      maskOutgoing: (content: string, messageId: string) => {
        masked.push([content, messageId])
        return mask(content)
      },
    },
    connection: {
      get state() {
        return state.connection
      },
      get lastInboundAt() {
        return state.lastInboundAt
      },
      observe() {},
    },
    session: { handleReceipt() {} },
    context: { merge() {} },
    // The ids of the messages go on without gaps.
    log: new MessageLog(transcript, { emit: scope.emit.bind(scope), newId: () => 'entry' }),
    liveness: { handleSent() {} },
  } as never)
  const opened = new Set<string>()
  /** What the recovery of messages counts from a reopening on. */
  let deadlines: unknown[] = []
  const endWait = () => {
    for (const deadline of deadlines) clock.clearTimeout(deadline)
  }
  /** Opens the chat on a transport, as the chat does. */
  const connect = (transport = new FakeTransport()) => {
    state.connection = 'CONNECTED'
    const { sessionId, isOwnSession: isOwn } = state
    const isReopening = opened.has(sessionId)
    opened.add(sessionId)
    outbox.handleConnected({
      sessionId,
      isReopening,
      number: 1,
      isCreated: false,
      isOwn,
      isRestored: isOwn,
      isSupplied: false,
    })
    outbox.handleReady(transport)
    endWait()
    if (isReopening)
      deadlines = (delivery === 'at-least-once' ? [OVERDUE_MS, FINAL_MS] : [OVERDUE_MS]).map(delayMs =>
        clock.setTimeout(() => outbox.handleOverdue(delayMs === FINAL_MS), delayMs),
      )
    return transport
  }
  /** Loses the connection; another attempt follows. `silentMs` is the time since the last inbound frame. */
  const lose = (silentMs = 0) => {
    state.connection = 'RECONNECTING'
    endWait()
    outbox.handleInterrupted()
    outbox.handleLost({ lastInboundAt: clock.monotonic() - silentMs, isAbnormal: true })
  }
  /** Ends the chat. */
  const close = () => {
    state.connection = 'CLOSED'
    endWait()
    outbox.handleInterrupted()
    outbox.handleClosed()
    outbox.handleLost({ lastInboundAt: clock.monotonic(), isAbnormal: false })
  }
  /** Makes the agent ready. */
  const becomeReady = () => {
    state.isReady = true
    outbox.release()
  }
  return {
    clock,
    outbox,
    state,
    accepted,
    flushed,
    failures,
    updates,
    warnings,
    masked,
    on,
    becomeReady,
    connect,
    lose,
    close,
    endWait,
  }
}

/** The messages of a history in the session of the outbox. */
export function messagesOf(history: readonly unknown[]): Message[] {
  return readHistory(history, { agentName: 'Help Desk', agentId: 'help', sessionId: 's1' }).map(
    ({ message }) => message,
  )
}

/** The error that a call throws. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('It should have thrown.')
}

/** An element of a history: a message of the user. */
export const said = (content: string, more: object = {}) => ({ persona: 'customer', role: 'human', content, ...more })
/** An element of a history: a message of the agent. */
export const answered = (content: string, more: object = {}) => ({ persona: 'agent', role: 'x', content, ...more })
/** The receipt of the service for a message. */
const receipt = (messageId: string) => ({ persona: 'metadata', role: 'receipt', messageData: { messageId } })

/** An outbox with what tests of deliveries ask about it. */
export function setUpDelivery(given: OutboxSetUp = {}) {
  const parts = setUpOutbox(given)
  const { outbox, updates, clock } = parts
  const stateOf = (id: string) => outbox.delivery(id)?.state
  const reasonOf = (id: string) => outbox.delivery(id)?.reason
  const send = (...ids: string[]) => {
    for (const id of ids) outbox.send(id, { id })
  }
  /** The states that a message has passed, as they were reported. */
  const pathOf = (id: string) => {
    const path = ['queued']
    for (const update of updates.filter(each => each.id === id)) {
      expect(update.previousState).toBe(path.at(-1))
      path.push(update.state)
    }
    return path.join(' ')
  }
  const readHistory = async (...history: object[]) => {
    outbox.handleHistory(messagesOf(history))
    await clock.advance(0)
    await await clock.advance(0)
  }
  const confirm = (id: string) => outbox.handleReceipt(receipt(id) as never)
  /** A message of the service arrives. */
  const hear = (frame: object) => {
    parts.state.lastInboundAt = clock.monotonic()
    for (const message of messagesOf([frame])) outbox.handleMessage(message)
  }
  return { ...parts, stateOf, reasonOf, send, pathOf, readHistory, confirm, hear }
}
