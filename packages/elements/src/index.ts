import type { ConversationSignal } from '@aiagent/view'
import { AiAgentChatElement } from './chat-element.ts'

export type { ChatStringOverrides, RenderMessage } from './chat-options.ts'
export type { ConsentStrings } from './consent/consent-strings.ts'
export type { ChatStrings, LanguageTexts, PluralForms } from './strings/chat-strings.ts'
export { addLanguage, type LoadStrings } from './strings/languages.ts'
export { AiAgentChatElement, type ConversationSignal }

// A page may load the module twice, and a server has no elements.
if (globalThis.customElements && !customElements.get('ai-agent-chat'))
  customElements.define('ai-agent-chat', AiAgentChatElement)

declare global {
  interface GlobalEventHandlersEventMap {
    'aiagent-signal': CustomEvent<ConversationSignal>
  }
  interface HTMLElementTagNameMap {
    'ai-agent-chat': AiAgentChatElement
  }
}
