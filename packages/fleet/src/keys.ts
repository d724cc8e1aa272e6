import { createHash } from 'node:crypto'

/**
 * The keys of one shard. All of them have one hash tag, so that they are in one slot of a cluster and one script can
 * change them together.
 */
export class ShardKeys {
  /** The lease: `<worker>:<fencing number>`, with an expiry. */
  readonly owner: string
  /** The last fencing number. Only ever raised. */
  readonly number: string
  /** The number of the last commit of the owner, so that a repeated one changes nothing. */
  readonly commit: string
  /** Stream of what is to be done: messages to send, conversations to open and to end. */
  readonly in: string
  /** Stream of what was said. */
  readonly out: string
  /** Hash of the unsettled messages: {@link messageField} → session in which the message may have been written, or an empty text. */
  readonly pending: string
  /** Hash of the number of unsettled messages of each conversation. */
  readonly counts: string
  /** Set of the open conversations. */
  readonly open: string
  /** Set of the conversations that end once their messages are settled. */
  readonly ending: string
  /** List of the ended conversations whose events are still stored: `<id of the last event> <conversation>`. */
  readonly ended: string
  /** Stream of the events that a listener could not read. */
  readonly unreadable: string
  /** Stream of the acquisitions of the shard. */
  readonly history: string
  readonly #tag: string

  constructor(fleet: string, shard: number) {
    this.#tag = `{${fleet}:s${shard}}`
    const key = (name: string) => `${this.#tag}:${name}`
    this.owner = key('owner')
    this.number = key('number')
    this.commit = key('commit')
    this.in = key('in')
    this.out = key('out')
    this.pending = key('pending')
    this.counts = key('counts')
    this.open = key('open')
    this.ending = key('ending')
    this.ended = key('ended')
    this.unreadable = key('unreadable')
    this.history = key('history')
  }

  /** Hash with the state of a conversation. */
  conversation(id: string): string {
    return `${this.#tag}:c:${id}`
  }

  /** List of the ids of the stored events of a conversation. */
  events(id: string): string {
    return `${this.#tag}:events:${id}`
  }

  /** Sorted set of the settled messages of a conversation by their time, for calls that are repeated. */
  done(id: string): string {
    return `${this.#tag}:done:${id}`
  }
}

/** The name of a message among those of all conversations: its id is unique in its conversation only. */
export function messageField(conversationId: string, messageId: string): string {
  return `${conversationId.length}:${conversationId}${messageId}`
}

/** A text as Redis stores it: half a surrogate pair has no encoding in UTF-8, and becomes U+FFFD. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD')
}

/** The keys of a fleet that belong to no shard. */
export function metaKeys(fleet: string) {
  return { settings: `{${fleet}:meta}:settings`, workers: `{${fleet}:meta}:workers` } as const
}

/** The shard of a conversation. */
export function shardOf(conversationId: string, shards: number): number {
  return createHash('sha1').update(conversationId).digest().readUInt32BE(0) % shards
}
