import type { AiAgent, AiAgentConfig } from '@aiagent/client'
import type { ConversationMessage, ConversationView, OpenLiveDesk } from '@aiagent/view'
import type { ConsentStrings } from './consent/consent-strings.ts'
import type { ChatStrings } from './strings/chat-strings.ts'

/** Properties of the chat, which the launcher has too. */
export const PROPERTIES = ['agent', 'config', 'strings', 'onLogin', 'renderMessage', 'suggestions', 'escalate'] as const

/** Texts to replace, beside those of the language. */
export type ChatStringOverrides = Partial<ChatStrings & ConsentStrings>

/**
 * Draws a message of the agent in place of its text and sources; undefined for a message that is shown as usual.
 *
 * It is called again when the message changes, with a new object. The node is put into the shadow tree of the element, where styles of
 * the page do not reach: style it inline, or make it a custom element.
 */
export type RenderMessage = (message: ConversationMessage) => Node | undefined

/** What the host app sets at the element, as it is now. */
export interface ChatProperties {
  readonly strings?: ChatStringOverrides | undefined
  readonly onLogin?: (() => unknown) | undefined
  readonly renderMessage?: RenderMessage | undefined
  /** Questions that an empty conversation offers. */
  readonly suggestions?: readonly string[] | undefined
  readonly escalate?: OpenLiveDesk | undefined
}

/** What the chat in an element needs of the element. */
export interface ChatHost {
  /** Root of the shadow tree. */
  readonly root: ShadowRoot
  /** What the chat is put into. */
  readonly frame: HTMLElement
  /** The agent to use; undefined when the chat creates one from {@link config}. */
  readonly agent: AiAgent | undefined
  /** Configuration of an agent of the element; undefined where the agent is the host app's. */
  readonly config: AiAgentConfig | undefined
  readonly properties: ChatProperties
  /** Wanted languages, the most wanted first. */
  languages(): readonly (string | null | undefined)[]
  /** The present value of an attribute of the element. */
  attribute(name: string): string | null
  /** Whether a slot of the element has content of the host app. */
  hasSlotted(name: string): boolean
  /** Watches the agent of the chat, before it starts: the element asks for consent when its user leaves. */
  follow(agent: AiAgent): void
  /** Dispatches an event on the element. */
  emit(name: string, detail?: unknown): void
}

/** A chat that is open in an element. */
export interface OpenChat {
  readonly agent: AiAgent
  readonly view: ConversationView
  /** Shows changed values of the {@link ChatHost}. */
  update(): void
  /**
   * Moves the focus to the text field, or to what the user must do first.
   *
   * @param isAsked whether the user wants to write; with false no keyboard rises where a finger points. @default true
   */
  focus(isAsked?: boolean): void
  /**
   * Removes the chat, and ends the agent of the element. Resolves when the agent has ended.
   *
   * @param keepsAgent leaves the agent for the next chat: its user has left, and the next one may have brought a token
   */
  close(keepsAgent?: boolean): Promise<void>
}
