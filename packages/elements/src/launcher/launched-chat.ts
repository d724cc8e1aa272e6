import type { AiAgent } from '@aiagent/client'
import type { AiAgentChatElement } from '../chat-element.ts'
import { PROPERTIES } from '../chat-options.ts'

export { fitVisiblePart } from './visible-part.ts'

/** The code of an optional part cannot be loaded. */
const goesOnWithout = () => {}

/** Passes what the user has written in the launcher on to the chat, with the caret and the focus. */
function handOver(field: HTMLTextAreaElement, chat: AiAgentChatElement): void {
  const { value, selectionStart, selectionEnd } = field
  const hasFocus = field.matches(':focus')
  const area = chat.shadowRoot?.querySelector('textarea')
  if (value && area) {
    // A draft that is there already stays.
    const before = area.value && `${area.value}\n`
    area.value = before + value
    area.setSelectionRange(before.length + selectionStart, before.length + selectionEnd)
    area.dispatchEvent(new Event('input', { bubbles: true }))
  } else if (value) chat.view?.setDraft(value)
  if (hasFocus) chat.focus()
  field.parentElement?.remove()
}

/** Creates the chat of a launcher in its panel. Attributes, properties and slotted elements of the launcher are passed on. */
export function createChat(
  launcher: HTMLElement & Pick<AiAgentChatElement, (typeof PROPERTIES)[number]>,
  panel: HTMLElement,
): AiAgentChatElement {
  const chat = document.createElement('ai-agent-chat')
  const { observedAttributes } = chat.constructor as typeof AiAgentChatElement
  const passed = observedAttributes.filter(name => name !== 'closable')
  const passAttributes = () => {
    for (const name of passed) {
      const value = launcher.getAttribute(name)
      if (value === null) chat.removeAttribute(name)
      else if (value !== chat.getAttribute(name)) chat.setAttribute(name, value)
    }
  }
  passAttributes()
  new MutationObserver(passAttributes).observe(launcher, { attributeFilter: passed })
  chat.toggleAttribute('closable', true)
  for (const name of PROPERTIES) {
    Object.assign(chat, { [name]: launcher[name] })
    Object.defineProperty(launcher, name, {
      configurable: true,
      enumerable: true,
      get: () => chat[name],
      set: value => Object.assign(chat, { [name]: value }),
    })
  }
  for (const name of new Set([...launcher.children].map(child => child.slot).filter(Boolean))) {
    const slot = document.createElement('slot')
    slot.name = slot.slot = name
    chat.append(slot)
  }
  launcher.addEventListener('aiagent-ready', event => {
    const { agent } = (event as CustomEvent<{ agent: AiAgent }>).detail
    const field = panel.querySelector('textarea')
    if (field) handOver(field, chat)
    if (launcher.hasAttribute('resume'))
      import('./page-memory.ts').then(({ remember }) => remember(launcher, agent), goesOnWithout)
  })
  for (const name of ['aiagent-unread', 'aiagent-open'])
    launcher.addEventListener(name, () => {
      if (launcher.hasAttribute('teaser'))
        import('./teaser.ts').then(({ showTeaser }) => showTeaser(launcher, chat), goesOnWithout)
    })
  // What it replaces follows it, so that a selector finds that.
  panel.prepend(chat)
  return chat
}
