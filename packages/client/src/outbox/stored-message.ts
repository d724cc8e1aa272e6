import { isJsonObject } from '@aiagent/protocol'
import { detachMessage, Message } from '../log/message.ts'
import { fnv1a } from '../util/fnv1a.ts'
import type { OutboxEntry, WrittenAs } from './delivery.ts'

/** Stands for every connection of the previous page. */
const PREVIOUS_PAGE = -1

/** Version of a stored queue. It is in its key, and in the name of its lock. */
export const QUEUE_VERSION = 1

/** What the outbox stores. */
export interface QueueSnapshot {
  /** In order. */
  readonly entries: readonly OutboxEntry[]
  /** The session in which the queued entries may be written at any time; undefined while they wait. */
  readonly claim: { readonly sessionId: string | undefined } | undefined
}

/** A message as it is stored: masked. */
export interface StoredMessage {
  readonly id: string
  /** The text of the frame. */
  readonly data: string
  /** When the host sent it, in milliseconds since the epoch. */
  readonly timestamp: number
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Set once the message was written, or is about to be. A reader of the store cannot open the session. */
  readonly written?: { readonly sessionFingerprint?: string | undefined }
}

/** How long a message waits by default, in milliseconds: a day. */
export const DEFAULT_WAIT_MS = 86_400_000

/** The messages of a stored value. Other values are ignored. */
export function readMessages(value: unknown): StoredMessage[] {
  return Array.isArray(value) ? value.filter(isStoredMessage) : []
}

function isStoredMessage(value: unknown): value is StoredMessage {
  return (
    isJsonObject(value) &&
    typeof value.id === 'string' &&
    typeof value.data === 'string' &&
    value.data.startsWith('{') &&
    typeof value.timestamp === 'number'
  )
}

/** The queue as it is stored. Questions are left out: their promise ends with the page. */
export function toStored({ entries, claim }: QueueSnapshot): StoredMessage[] {
  return entries
    .filter(({ reply }) => !reply)
    .map(({ id, timestamp, message, state, written }) => {
      const { from, to } = message
      const data = message.toPayloadString()
      const mark = state === 'sent' ? written : claim
      const sessionFingerprint = written?.sessionFingerprint ?? fingerprintOf(mark?.sessionId)
      return { id, data, timestamp, from, to, ...(mark && { written: { sessionFingerprint } }) }
    })
}

/** A stored message as an entry of the outbox. */
export function toEntry({ id, data, timestamp, from, to, written }: StoredMessage): OutboxEntry {
  return {
    id,
    timestamp,
    isMasked: true,
    message: detachMessage(Message.fromJSON(data, { messageId: id, timestamp, from, to }), data),
    state: written ? 'sent' : 'queued',
    ...(written && { written: writtenByPreviousPage(written.sessionFingerprint) }),
  }
}

/** Which session it was is seen when the present one is known. */
function writtenByPreviousPage(sessionFingerprint: string | undefined): WrittenAs {
  const sessionId = sessionFingerprint === undefined ? undefined : ''
  return { order: -1, at: 0, connection: PREVIOUS_PAGE, sessionId, sessionFingerprint }
}

/** Whether the previous page wrote the entry, and this one has not written it yet. */
export function isAdopted({ written }: OutboxEntry): boolean {
  return written?.connection === PREVIOUS_PAGE
}

/** Tells the session of a previous page from another one. */
export function fingerprintOf(sessionId: string | undefined): string | undefined {
  return sessionId === undefined ? undefined : fnv1a(sessionId)
}
