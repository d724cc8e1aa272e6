import { isJsonObject } from '@aiagent/protocol'

/**
 * Version of the messages between tabs. It is in the name of their channel and of the locks, so that tabs of other versions
 * are another group: their library may mean something else.
 */
export const TAB_VERSION = 1

/** A message of the user as the other tabs show it: masked, as it is sent. */
export interface SaidMessage {
  readonly id: string
  readonly persona: string
  readonly role: string
  readonly content?: string
  readonly messageData?: Record<string, unknown>
  /** Only of a message of the present session. */
  readonly sessionId?: string
  /** Milliseconds since the epoch. */
  readonly timestamp: number
}

/** The last messages that a tab has, in both directions, those that its host has removed or keeps out included. */
export interface KnownMessages {
  readonly ids: readonly string[]
  /** Older messages are not in the list. Milliseconds since the epoch. */
  readonly since: number
  /** Messages of other tabs whose outcome it does not know. */
  readonly open: readonly string[]
}

/**
 * What the tabs of one conversation say to each other. `socket` is the number of a tab's virtual socket; the tab and this
 * number identify it.
 */
export type TabMessage =
  /** To all: who leads? `isNew` also asks for what was said and stored before. */
  | { readonly kind: 'hello'; readonly isNew: boolean }
  /** From the leader, when it begins and as the answer to each `hello`. */
  | {
      readonly kind: 'state'
      readonly fence: number
      readonly sessionId: string | undefined
      readonly conversation: string | undefined
    }
  /** To the leader, or to all, which answer it with `synced` behind everything that they have said, and passed on. */
  | { readonly kind: 'sync'; readonly nonce: number }
  | { readonly kind: 'synced'; readonly nonce: number }
  /** The sender leaves. */
  | { readonly kind: 'bye' }
  /** To the leader: connect a virtual socket. */
  | {
      readonly kind: 'open'
      readonly socket: number
      readonly sessionId: string
      readonly lastSeq: number | undefined
      /** Whether the tab opens its first socket in the session. */
      readonly isFirst: boolean
    }
  | { readonly kind: 'write'; readonly socket: number; readonly text: string }
  | { readonly kind: 'close'; readonly socket: number }
  /** From the leader. */
  | { readonly kind: 'opened'; readonly socket: number }
  /** From the leader: a frame of the service, for one socket or for all that are open. */
  | { readonly kind: 'frame'; readonly socket: number | undefined; readonly text: string }
  | {
      readonly kind: 'closed'
      readonly socket: number | undefined
      readonly code: number
      readonly reason: string
      readonly httpStatus: number | undefined
    }
  /** To a new tab, from one that does not lead: the session that it is in. */
  | { readonly kind: 'known'; readonly sessionId: string }
  /**
   * The tabs continue in another session. `conversation` is the session in which the conversation began: where it stays the
   * same, the service had forgotten the earlier session, and the transcript stays too.
   */
  | { readonly kind: 'session'; readonly sessionId: string; readonly conversation: string | undefined }
  | {
      readonly kind: 'said'
      readonly message: SaidMessage
      /** The tab that has sent it; the sender of this message if absent. */
      readonly owner?: string
      /** Present for a message of before: its state, and the reason of that. */
      readonly state?: string
      readonly reason?: string
    }
  /**
   * To all, or from a new follower to its leader: which messages of others have not arrived? The answer is `said` for each.
   * A browser may drop what is posted to a page that it has stopped. A tab that may have missed messages lists the last ones
   * that it has; the answer then also contains the ones that it does not have, or whose outcome it does not know.
   */
  | { readonly kind: 'recall'; readonly known?: KnownMessages }
  | {
      readonly kind: 'delivery'
      readonly id: string
      readonly state: string
      readonly reason: string | undefined
    }
  /** The user has read everything up to a message of the agent. */
  | { readonly kind: 'read'; readonly messageId: string }
  /** What the host of another tab asks for one of the receiver's messages. */
  | { readonly kind: 'act'; readonly id: string; readonly action: 'retry' | 'cancel' }
  /** The attributes that were set; null when all were removed. */
  | { readonly kind: 'context'; readonly attributes: Record<string, unknown> | null }
  /** The access token in use. */
  | { readonly kind: 'token'; readonly token: string }
  /** The user is signed out, or is another one. */
  | { readonly kind: 'left' }
  /** The sender, which was anonymous, gets a user, and takes the session with it. Each tab that lets go of it answers with `synced`. */
  | { readonly kind: 'taken'; readonly sessionId: string; readonly nonce: number }
  /** An entry of the replicated queue; null when it was removed. */
  | { readonly kind: 'stored'; readonly key: string; readonly value: unknown; readonly version: number }

/** A message with its sender and, where it is for one tab only, its receiver. */
export interface TabEnvelope {
  readonly from: string
  readonly to: string | undefined
  /** Counts the messages of the sender, to whichever tab. */
  readonly number: number | undefined
  readonly message: TabMessage
}

type Check = (value: unknown) => boolean

const isText: Check = value => typeof value === 'string'
const isNumber = (value: unknown): value is number => Number.isSafeInteger(value)
const isFlag: Check = value => typeof value === 'boolean'
const orNot =
  (check: Check): Check =>
  value =>
    value === undefined || check(value)

const isSaid: Check = value =>
  isJsonObject(value) &&
  isText(value.id) &&
  isText(value.persona) &&
  isText(value.role) &&
  orNot(isText)(value.content) &&
  orNot(isJsonObject)(value.messageData) &&
  orNot(isText)(value.sessionId) &&
  typeof value.timestamp === 'number'

const areTexts: Check = value => Array.isArray(value) && value.every(isText)

const isKnown: Check = value =>
  isJsonObject(value) && isNumber(value.since) && areTexts(value.ids) && areTexts(value.open)

/** The members of each kind. */
const MEMBERS: { readonly [Kind in TabMessage['kind']]: Readonly<Record<string, Check>> } = {
  hello: { isNew: isFlag },
  state: { fence: isNumber, sessionId: orNot(isText), conversation: orNot(isText) },
  sync: { nonce: isNumber },
  synced: { nonce: isNumber },
  bye: {},
  open: { socket: isNumber, sessionId: isText, lastSeq: orNot(isNumber), isFirst: isFlag },
  write: { socket: isNumber, text: isText },
  close: { socket: isNumber },
  opened: { socket: isNumber },
  frame: { socket: orNot(isNumber), text: isText },
  closed: { socket: orNot(isNumber), code: isNumber, reason: isText, httpStatus: orNot(isNumber) },
  known: { sessionId: isText },
  session: { sessionId: isText, conversation: orNot(isText) },
  said: { message: isSaid, owner: orNot(isText), state: orNot(isText), reason: orNot(isText) },
  recall: { known: orNot(isKnown) },
  delivery: { id: isText, state: isText, reason: orNot(isText) },
  read: { messageId: isText },
  act: { id: isText, action: value => value === 'retry' || value === 'cancel' },
  context: { attributes: value => value === null || isJsonObject(value) },
  token: { token: isText },
  left: {},
  taken: { sessionId: isText, nonce: isNumber },
  stored: { key: isText, value: value => value === null || isJsonObject(value), version: isNumber },
}

/** Reads what arrived on the channel: data from outside, since any script of the origin may post there. */
export function parseEnvelope(data: unknown): TabEnvelope | undefined {
  if (!isJsonObject(data)) return undefined
  const { from, to, number, message } = data
  if (typeof from !== 'string' || (to !== undefined && typeof to !== 'string') || !isJsonObject(message))
    return undefined
  if (number !== undefined && !isNumber(number)) return undefined
  const { kind } = message
  if (typeof kind !== 'string' || !Object.hasOwn(MEMBERS, kind)) return undefined
  const checks = MEMBERS[kind as TabMessage['kind']]
  for (const [name, check] of Object.entries(checks)) if (!check(message[name])) return undefined
  return { from, to, number, message: message as unknown as TabMessage }
}
