/**
 * A round button that opens the chat: `<ai-agent-launcher>`.
 *
 * @module
 */
import { AiAgentLauncherElement } from './launcher-element.ts'

export { AiAgentLauncherElement }

// A page may load the module twice, and a server has no elements.
if (globalThis.customElements && !customElements.get('ai-agent-launcher'))
  customElements.define('ai-agent-launcher', AiAgentLauncherElement)

declare global {
  interface HTMLElementTagNameMap {
    'ai-agent-launcher': AiAgentLauncherElement
  }
}
