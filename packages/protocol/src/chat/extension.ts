/*
 * Receipts, resume and ping: the negotiated extension of the wire. See PROTOCOL.md, "Receipts and resume".
 *
 * Nothing here runs on the plain wire, so both sides may load it only after the service has announced a capability.
 */
import { isJsonObject } from '../json-object.ts'
import { PERSONA } from './persona.ts'
import { ROLE } from './role.ts'
import type { ServerMessage } from './server-message.ts'

/** Names in `capabilities` of the deployment information. A service may announce either one alone. */
export const CAPABILITY = {
  /** Client frames carry an id, and the service acknowledges and de-duplicates them. */
  RECEIPTS: 'receipts',
  /** Service frames carry a sequence number, and a reopening names the last one that the client has processed. */
  RESUME: 'resume',
  /** A connection names a number, and the service refuses one that is lower than an earlier one of the session. */
  FENCING: 'fencing',
} as const

/** A known capability of a service. */
export type Capability = (typeof CAPABILITY)[keyof typeof CAPABILITY]

/** Roles of the extension's own frames, which all have the persona `metadata`. */
export const EXTENSION_ROLE = {
  RECEIPT: 'receipt',
  RESUMED: 'resumed',
  PING: 'ping',
  PONG: 'pong',
} as const

/** A role of the extension, as it stands on the wire. */
export type ExtensionRole = (typeof EXTENSION_ROLE)[keyof typeof EXTENSION_ROLE]

/** What a frame of the extension says to the client. */
export type ExtensionSignal =
  /** The service has accepted the client frame with this id. `duplicate` is true when it had accepted it before. */
  | { kind: 'receipt'; messageId: string; duplicate: boolean }
  /** The service refused the client frame with this id: it was not accepted. `code` says why. */
  | { kind: 'refusal'; messageId: string; code: string }
  /** The replay after a reopening is over. False means that the service no longer holds all frames. */
  | { kind: 'resumed'; complete: boolean }
  /** The answer to a ping, with its id. */
  | { kind: 'pong'; id: string }

/**
 * Reads a frame of the extension. Lenient as the codec is: a missing `duplicate` or `complete` counts as false.
 *
 * @returns undefined for every other frame, and for one without the id that it needs
 */
export function readExtensionSignal({ persona, role, messageData }: ServerMessage): ExtensionSignal | undefined {
  if (persona !== PERSONA.METADATA) return undefined
  const data: Record<string, unknown> = isJsonObject(messageData) ? messageData : {}
  const { messageId, id } = data
  switch (role) {
    case EXTENSION_ROLE.RECEIPT:
      return isId(messageId) ? { kind: 'receipt', messageId, duplicate: data.duplicate === true } : undefined
    case EXTENSION_ROLE.RESUMED:
      return { kind: 'resumed', complete: data.complete === true }
    case EXTENSION_ROLE.PONG:
      return isId(id) ? { kind: 'pong', id } : undefined
    case ROLE.ERROR:
      return isId(messageId) ? { kind: 'refusal', messageId, code: String(data.error_code ?? '') } : undefined
    default:
      return undefined
  }
}

/**
 * Adds the client's id to a frame that is encoded already.
 *
 * @param frame text of {@link encodeMessage} or {@link encodeText}
 */
export const addMessageId = (frame: string, messageId: string): string =>
  `${frame.slice(0, -1)},"messageId":${JSON.stringify(messageId)}}`

/** Encodes the service's receipt for a client frame. */
export const encodeReceipt = (messageId: string, duplicate: boolean): string =>
  encodeSignal(EXTENSION_ROLE.RECEIPT, { messageId, duplicate })

/** Encodes the end of a replay. */
export const encodeResumed = (complete: boolean): string => encodeSignal(EXTENSION_ROLE.RESUMED, { complete })

/** Encodes a client's ping. */
export const encodePing = (id: string): string => encodeSignal(EXTENSION_ROLE.PING, { id })

/** Encodes the service's answer to a ping. */
export const encodePong = (id: string): string => encodeSignal(EXTENSION_ROLE.PONG, { id })

const encodeSignal = (role: ExtensionRole, messageData: Record<string, unknown>): string =>
  JSON.stringify({ persona: PERSONA.METADATA, role, messageData })

const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Whether a value can serve as a sequence number: a whole number from 0 up. 0 stands before the first frame. */
export const isSequenceNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** How far a fencing number may be ahead of the clock, in milliseconds. Numbers are times, and clocks differ. */
const MAX_FENCE_LEAD_MS = 86_400_000

/**
 * Reads the query parameter `fence`. Returns undefined when it is missing, no whole number above 0, or more than a day ahead of
 * the clock: a number that nothing can exceed would end the fencing of the session.
 *
 * @param now time in milliseconds since the epoch
 */
export function readFence(value: string | null, now: number = Date.now()): number | undefined {
  const fence = readLastSeq(value)
  return fence === 0 || Number(fence) > now + MAX_FENCE_LEAD_MS ? undefined : fence
}

/** The reason of a close with `CLOSE_CODE.FENCED`: it ends with the number that a later connection must exceed. */
export const fencedReason = (fence: number): string => `The session has a newer holder: ${fence}`

/** Reads the number from the reason of a close with `CLOSE_CODE.FENCED`, as {@link readFence} does. */
export const readFencedReason = (reason: string, now?: number): number | undefined =>
  readFence(reason.split(' ').at(-1) ?? null, now)

/** Reads the query parameter `lastSeq`. Returns undefined when it is missing or no sequence number. */
export function readLastSeq(value: string | null): number | undefined {
  if (value === null || !/^\d{1,16}$/.test(value)) return undefined
  const seq = Number(value)
  return isSequenceNumber(seq) ? seq : undefined
}
