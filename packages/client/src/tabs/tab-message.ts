import { isJsonObject } from '@aiagent/protocol'
import type { DeliveryReason, DeliveryState } from '../log/delivery.ts'
import { isSnapshot } from '../log/reconcile-pages.ts'

/**
 * Version of the messages between tabs. It is in the name of their channel and of the locks, so that tabs of other versions
 * are another group: their library may mean something else.
 */
export const TAB_VERSION = 1

// ── What may arrive: any script of the origin may post on the channel ───────────────────────────────────────────────────

type Check<Value> = (value: unknown) => value is Value
type Checks = Readonly<Record<string, Check<unknown>>>
type Checked<Of> = Of extends Check<infer Value> ? Value : never
type Optional<Members extends Checks> = {
  [Name in keyof Members]: undefined extends Checked<Members[Name]> ? Name : never
}[keyof Members]

/** An object with these members. Those that may be undefined may be absent. */
type ObjectOf<Members extends Checks> = {
  readonly [Name in Exclude<keyof Members, Optional<Members>>]: Checked<Members[Name]>
} & { readonly [Name in Optional<Members>]?: Checked<Members[Name]> }

const isText = (value: unknown): value is string => typeof value === 'string'
const isInteger = (value: unknown): value is number => Number.isSafeInteger(value)
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
const isObject = (value: unknown): value is Record<string, unknown> => isJsonObject(value)
const areTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

function oneOf<Value extends string>(values: Readonly<Record<Value, true>>): Check<Value> {
  return (value): value is Value => isText(value) && Object.hasOwn(values, value)
}

function orNull<Value>(check: Check<Value>): Check<Value | null> {
  return (value): value is Value | null => value === null || check(value)
}

function orNot<Value>(check: Check<Value>): Check<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || check(value)
}

function objectOf<Members extends Checks>(members: Members): Check<ObjectOf<Members>> {
  return (value): value is ObjectOf<Members> =>
    isJsonObject(value) && Object.entries(members).every(([name, isValid]) => isValid(value[name]))
}

const isAction = oneOf({ retry: true, cancel: true })

/** The states that tabs report: `sent` says that it was `sending`. */
export type TabState = Exclude<DeliveryState, 'sending'>

const isState = oneOf<TabState>({
  queued: true,
  sent: true,
  acknowledged: true,
  unknown: true,
  failed: true,
  cancelled: true,
})

const isReason = oneOf<DeliveryReason>({
  connection_lost: true,
  session_ended: true,
  refused: true,
  page_ended: true,
  limit: true,
  cleared: true,
  signed_out: true,
  destroyed: true,
  closed: true,
  encoding_failed: true,
  queue_full: true,
  masking_unavailable: true,
})

// ── The messages ────────────────────────────────────────────────────────────────────────────────────────────────────

const isKnown = objectOf({
  ids: areTexts,
  /** Older messages are not in the list. Milliseconds since the epoch. */
  since: isInteger,
  /** Messages of other tabs whose outcome it does not know. */
  open: areTexts,
})

/** The last messages that a tab has, in both directions, those that its host has removed or keeps out included. */
export type KnownMessages = Checked<typeof isKnown>

/**
 * What the tabs of one conversation say to each other, by kind. `socket` is the number of a tab's virtual socket; the tab and
 * this number identify it.
 */
const MESSAGES = {
  /** To all: who leads? `isNew` also asks for what was said and stored before. */
  hello: { isNew: isFlag },
  /** From the leader, when it begins and as the answer to each `hello`. */
  state: { fence: isInteger, sessionId: orNot(isText), conversation: orNot(isText) },
  /** To the leader, or to all, which answer it with `synced` behind everything that they have said, and passed on. */
  sync: { nonce: isInteger },
  synced: { nonce: isInteger },
  /** The sender leaves. */
  bye: {},
  /** To the leader: connect a virtual socket. `isFirst` if it is the tab's first one in the session. */
  open: { socket: isInteger, sessionId: isText, lastSeq: orNot(isInteger), isFirst: isFlag },
  write: { socket: isInteger, text: isText },
  close: { socket: isInteger },
  /** From the leader. */
  opened: { socket: isInteger },
  /** From the leader: a frame of the service, for one socket or for all that are open. */
  frame: { socket: orNot(isInteger), text: isText },
  closed: { socket: orNot(isInteger), code: isInteger, reason: isText, httpStatus: orNot(isInteger) },
  /** To a new tab, from one that does not lead: the session that it is in. */
  known: { sessionId: isText },
  /**
   * The tabs continue in another session. `conversation` is the session in which the conversation began: where it stays the
   * same, the service had forgotten the earlier session, and the transcript stays too.
   */
  session: { sessionId: isText, conversation: orNot(isText) },
  /**
   * A tab has sent a message: `owner`, if it is not the sender of this. Of a message of before the state is present, and the
   * reason of that. A question is sent by no other tab: its promise ends with the page.
   */
  said: {
    message: isSnapshot,
    isQuestion: orNot(isFlag),
    owner: orNot(isText),
    state: orNot(isState),
    reason: orNot(isReason),
  },
  /**
   * To all, or from a new follower to its leader: which messages of others have not arrived? The answer is `said` for each.
   * A browser may drop what is posted to a page that it has stopped. A tab that may have missed messages lists the last ones
   * that it has; the answer then also contains the ones that it does not have, or whose outcome it does not know.
   */
  recall: { known: orNot(isKnown) },
  delivery: { id: isText, state: isState, reason: orNot(isReason) },
  /** The user has read everything up to a message of the agent. */
  read: { messageId: isText },
  /** What the host of another tab asks for one of the receiver's messages, or of one that the receiver answers for. */
  act: { id: isText, action: isAction },
  /** The attributes that were set; null when all were removed. */
  context: { attributes: orNull(isObject) },
  /** The access token in use. */
  token: { token: isText },
  /** The user is signed out, or is another one. */
  left: {},
  /** The sender, which was anonymous, gets a user, and takes the session with it. Each tab that lets go of it answers with `synced`. */
  taken: { sessionId: isText, nonce: isInteger },
} as const

type Messages = typeof MESSAGES

export type TabMessage = {
  [Kind in keyof Messages]: { readonly kind: Kind } & ObjectOf<Messages[Kind]>
}[keyof Messages]

const isEnvelope = objectOf({
  from: isText,
  /** Absent in a message to all other tabs. */
  to: orNot(isText),
  /** Counts the messages of the sender, to whichever tab. */
  number: isInteger,
  message: (value): value is TabMessage => {
    const { kind } = isJsonObject(value) ? value : {}
    return (
      typeof kind === 'string' && Object.hasOwn(MESSAGES, kind) && objectOf(MESSAGES[kind as keyof Messages])(value)
    )
  },
})

/** A message with its sender and, where it is for one tab only, its receiver. */
export type TabEnvelope = Checked<typeof isEnvelope>

/** Reads what arrived on the channel. */
export function parseEnvelope(data: unknown): TabEnvelope | undefined {
  return isEnvelope(data) ? data : undefined
}
