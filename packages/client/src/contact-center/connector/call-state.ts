import { type Id, isJsonObject } from '@aiagent/protocol'
import type { ContextStore } from '../../chat/context-store.ts'
import type { AgentScope } from '../../scope.ts'
import {
  type CallerInfo,
  type CallTranscriptEntry,
  type CallTranscriptInput,
  type FilterTags,
  NO_CALL_TRANSCRIPT,
  tellCallTranscript,
  type UserContext,
} from './call-details.ts'

/** Events that {@link CallState} emits. */
export type CallEventType =
  | 'callTranscriptUpdate'
  | 'callerInfoUpdate'
  | 'conversationIdUpdate'
  | 'userContextUpdate'
  | 'filterTagsUpdate'

/** Attribute of the user context, and of the conversation's context, that holds the filter tags. */
const FILTER_TAGS_ATTRIBUTE = 'user_filter_tags'

const NO_PLATFORM = { authenticated: false, token: null }

/**
 * State of the call that the contact center's platform handles: transcript, caller, conversation id, facts and filter
 * tags.
 *
 * The connector writes it through its hook, the host reads it. Values are copied and frozen on arrival, so a getter
 * returns the same object until the value changes. The state belongs to the signed-in user.
 */
export class CallState {
  readonly #scope: AgentScope<CallEventType>
  readonly #context: ContextStore
  #entries = NO_CALL_TRANSCRIPT
  #callerInfo: Readonly<CallerInfo> | null = null
  #userContext: Readonly<UserContext> | null = null
  #platform: { readonly authenticated: boolean; readonly token: string | null } = NO_PLATFORM

  constructor(scope: AgentScope<CallEventType>, context: ContextStore) {
    this.#scope = scope
    this.#context = context
  }

  /** The transcript of the call. */
  getTranscript(): readonly CallTranscriptEntry[] {
    return this.#entries
  }
  getCallerInfo(): Readonly<CallerInfo> | null {
    return this.#callerInfo
  }
  /** Sent as `externalCallId` in the chat's address, from the next connection on. */
  getConversationId(): string | null {
    return this.#scope.facts.conversationId
  }
  getUserContext(): Readonly<UserContext> | null {
    return this.#userContext
  }
  /** The connector's own sign-in at the platform, as reported by the connector. The library does not use it. */
  getPlatform(): { readonly authenticated: boolean; readonly token: string | null } {
    return this.#platform
  }

  /** Adds an utterance. An invalid `timestamp` becomes the present time; anything but an object is ignored. */
  addToTranscript(input: CallTranscriptInput): void {
    if (!isJsonObject(input)) return
    const given = new Date(input.timestamp ?? this.#scope.environment.clock.now())
    const timestamp = Number.isNaN(given.getTime()) ? new Date(this.#scope.environment.clock.now()) : given
    const entry = Object.freeze({ sender: textOf(input.sender), content: textOf(input.content), timestamp })
    this.#entries = Object.freeze([...this.#entries, entry])
    tellCallTranscript(this.#scope, this.#entries, entry)
  }

  /** Empties the transcript. */
  clearTranscript(): void {
    this.#entries = NO_CALL_TRANSCRIPT
    tellCallTranscript(this.#scope, this.#entries)
  }

  /** @param info replaces the known caller; null removes it */
  setCallerInfo(info: CallerInfo | null): void {
    this.#callerInfo = isJsonObject(info) ? Object.freeze({ ...info }) : null
    this.#scope.emit('callerInfoUpdate', () => ({ callerInfo: this.#callerInfo }))
  }

  /** @param id blank or null when the call has ended */
  setConversationId(id: Id | null): void {
    const { facts } = this.#scope
    const conversationId = textOf(id).trim() || null
    facts.conversationId = conversationId
    this.#scope.emit('conversationIdUpdate', () => ({ conversationId }))
  }

  /** Merges facts into the known ones, by name and not deeper. Anything but an object is ignored. */
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
    const context = this.#context
    // First, since it may throw.
    context.merge({ [FILTER_TAGS_ATTRIBUTE]: withTags(context.get(), tags) })
    const filterTags = withTags(this.#userContext, tags)
    this.#mergeUserContext({ [FILTER_TAGS_ATTRIBUTE]: filterTags })
    this.#scope.emit('filterTagsUpdate', () => ({ filterTags }))
  }

  setPlatformAuthenticated(authenticated: boolean): void {
    this.#platform = { ...this.#platform, authenticated: authenticated === true }
  }
  setPlatformToken(token: string | null): void {
    this.#platform = { ...this.#platform, token: textOf(token) || null }
  }

  /** Discards the call of a user who signs out, and emits the events of everything that was set (SEC-15). */
  forgetUser(): void {
    const { facts } = this.#scope
    const { [FILTER_TAGS_ATTRIBUTE]: tags } = this.#userContext ?? {}
    const hadUserContext = this.#userContext !== null
    this.#userContext = null
    this.#platform = NO_PLATFORM
    if (this.#entries.length > 0) this.clearTranscript()
    if (this.#callerInfo) this.setCallerInfo(null)
    if (facts.conversationId !== null) this.setConversationId(null)
    if (hadUserContext) this.#scope.emit('userContextUpdate', () => ({ userContext: {} }))
    if (tags !== undefined) this.#scope.emit('filterTagsUpdate', () => ({ filterTags: {} }))
  }

  #mergeUserContext(facts: UserContext): void {
    const userContext = Object.freeze({ ...this.#userContext, ...facts })
    this.#userContext = userContext
    this.#scope.emit('userContextUpdate', () => ({ userContext }))
  }
}

/** The tags in a set of attributes, with the given ones merged over them. */
function withTags(attributes: Readonly<Record<string, unknown>> | null, tags: FilterTags): FilterTags {
  const known = attributes?.[FILTER_TAGS_ATTRIBUTE]
  return Object.freeze({ ...(isJsonObject(known) ? known : {}), ...tags })
}

/** Scripts are not type-checked: any value becomes text, `undefined` and null become an empty string. */
function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}
