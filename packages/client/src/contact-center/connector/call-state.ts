import { type Id, isJsonObject } from '@aiagent/protocol'

/** One thing that was said in the call at the desk. */
export interface CallTranscriptEntry {
  /** Who said it, in the platform's words. */
  readonly sender: string
  readonly content: string
  readonly timestamp: Date
}

/** What a connector adds to the call's transcript. @default timestamp now */
export interface CallTranscriptInput {
  sender: string
  content: string
  timestamp?: Date | number | string
}

/** Who calls, as far as the desk's platform knows. */
export interface CallerInfo {
  name?: string
  phone?: string
  email?: string
  [field: string]: unknown
}

/** Facts about the call that the desk's platform tells, by name. */
export type UserContext = Record<string, unknown>

/** Lists of values by name, that answers are filtered by: `{ product: ['router'] }`. Passed on as the connector gives them. */
export type FilterTags = Record<string, unknown>

/** Payload of `callTranscriptUpdate`: the whole transcript, and what was added to it unless it was cleared. */
export interface CallTranscriptUpdate {
  /** What was added; none where the transcript was cleared. */
  entry?: CallTranscriptEntry
  /** Everything that was said so far. */
  entries: readonly CallTranscriptEntry[]
}

/** Hears of every change, with the payload of the event that tells of it. */
export interface CallStateListener {
  callTranscriptUpdate(update: CallTranscriptUpdate): void
  callerInfoUpdate(update: { callerInfo: CallerInfo | null }): void
  conversationIdUpdate(update: { conversationId: string | null }): void
  userContextUpdate(update: { userContext: UserContext }): void
  filterTagsUpdate(update: { filterTags: FilterTags }): void
}

/** The conversation's attributes, as far as filter tags go into them. */
export interface TaggedContext {
  get(): Readonly<Record<string, unknown>> | null
  merge(attributes: Record<string, unknown>): void
}

export interface CallStateOptions {
  now(): number
  context: TaggedContext
  listener: CallStateListener
}

/** Attribute of the user context, and of the conversation's context, that holds the filter tags. */
const FILTER_TAGS_ATTRIBUTE = 'user_filter_tags'

const NOTHING_SAID: readonly CallTranscriptEntry[] = Object.freeze([])

/**
 * What a connector tells of the call at the desk: its transcript, who calls, its conversation id, facts and filter tags.
 *
 * It owns all of that; the connector writes through its hook, the host reads. Values are copied when they come in and
 * frozen, so a getter answers with the same object until there is news.
 */
export class CallState {
  readonly #options: CallStateOptions
  #entries = NOTHING_SAID
  #callerInfo: Readonly<CallerInfo> | null = null
  #conversationId: string | null = null
  #userContext: Readonly<UserContext> | null = null
  #platform: { readonly authenticated: boolean; readonly token: string | null } = { authenticated: false, token: null }

  constructor(options: CallStateOptions) {
    this.#options = options
  }

  /** The call so far. */
  getTranscript(): readonly CallTranscriptEntry[] {
    return this.#entries
  }
  getCallerInfo(): Readonly<CallerInfo> | null {
    return this.#callerInfo
  }
  /** Goes into the chat's address as `externalCallId`, from the next connection on. */
  getConversationId(): string | null {
    return this.#conversationId
  }
  getUserContext(): Readonly<UserContext> | null {
    return this.#userContext
  }
  /** What the connector said of its own sign-in at the platform. Nothing here depends on it. */
  getPlatform(): { readonly authenticated: boolean; readonly token: string | null } {
    return this.#platform
  }

  /** Adds what was said. A moment that is none is now; anything but an object is ignored. */
  addToTranscript(input: CallTranscriptInput): void {
    if (!isJsonObject(input)) return
    const given = new Date(input.timestamp ?? this.#options.now())
    const timestamp = Number.isNaN(given.getTime()) ? new Date(this.#options.now()) : given
    const entry = Object.freeze({ sender: textOf(input.sender), content: textOf(input.content), timestamp })
    this.#entries = Object.freeze([...this.#entries, entry])
    this.#options.listener.callTranscriptUpdate({ entry, entries: this.#entries })
  }

  /** Forgets what was said, and tells so, also where nothing was. */
  clearTranscript(): void {
    this.#entries = NOTHING_SAID
    this.#options.listener.callTranscriptUpdate({ entries: this.#entries })
  }

  /** @param info replaces what was known; null forgets it */
  setCallerInfo(info: CallerInfo | null): void {
    this.#callerInfo = isJsonObject(info) ? Object.freeze({ ...info }) : null
    this.#options.listener.callerInfoUpdate({ callerInfo: this.#callerInfo })
  }

  /** @param id blank or null: there is no call any more */
  setConversationId(id: Id | null): void {
    this.#conversationId = textOf(id).trim() || null
    this.#options.listener.conversationIdUpdate({ conversationId: this.#conversationId })
  }

  /** Merges facts over the known ones, by name and not deeper. Anything but an object is ignored. */
  setUserContext(facts: UserContext): void {
    if (!isJsonObject(facts)) return
    this.#mergeUserContext(facts)
  }

  /**
   * Merges filter tags into the user context and the conversation's context. Each keeps its other attributes, and its
   * tags of other names. Anything but an object is ignored.
   *
   * @throws {MessageError} reason `invalid` when the tags cannot be written as JSON; then nothing has changed
   */
  setUserFilterTags(tags: FilterTags): void {
    if (!isJsonObject(tags)) return
    const { context, listener } = this.#options
    // The one that can refuse goes first.
    context.merge({ [FILTER_TAGS_ATTRIBUTE]: withTags(context.get(), tags) })
    const filterTags = withTags(this.#userContext, tags)
    this.#mergeUserContext({ [FILTER_TAGS_ATTRIBUTE]: filterTags })
    listener.filterTagsUpdate({ filterTags })
  }

  setPlatformAuthenticated(authenticated: boolean): void {
    this.#platform = { ...this.#platform, authenticated: authenticated === true }
  }
  setPlatformToken(token: string | null): void {
    this.#platform = { ...this.#platform, token: textOf(token) || null }
  }

  #mergeUserContext(facts: UserContext): void {
    this.#userContext = Object.freeze({ ...this.#userContext, ...facts })
    this.#options.listener.userContextUpdate({ userContext: this.#userContext })
  }
}

/** The tags among some attributes, with others laid over them. */
function withTags(attributes: Readonly<Record<string, unknown>> | null, tags: FilterTags): FilterTags {
  const known = attributes?.[FILTER_TAGS_ATTRIBUTE]
  return Object.freeze({ ...(isJsonObject(known) ? known : {}), ...tags })
}

/** A script is no typed caller: what should be text is made text, and nothing stays nothing. */
function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}
