/** Names of keys other than characters, such as `Enter` and `F1`. */
const NAMED = /^[A-Z][A-Za-z0-9]+$/

/**
 * Ends the key events with which a user writes in a text field of the chat at its shadow root, since listeners of the page cannot see
 * that they come from a text field. Those of slotted nodes, and of nodes that the host has drawn, continue.
 */
export function keepKeys(root: ShadowRoot): void {
  for (const type of ['keydown', 'keypress', 'keyup'] as const)
    root.addEventListener(type, event => {
      const field = event.target as Element
      const isOwn = field.getRootNode() === root && field.matches('.composer-box textarea, .panel-body > .field')
      if (isOwn && isWriting(event as KeyboardEvent)) event.stopPropagation()
    })
}

function isWriting(event: KeyboardEvent): boolean {
  const { key, altKey, ctrlKey, metaKey, isComposing, keyCode } = event
  // An input method takes the key, also one with another meaning, such as Escape.
  if (isComposing || keyCode === 229 || key === 'Dead') return true
  const isCharacter = !NAMED.test(key)
  if (isCharacter && (event.getModifierState?.('AltGraph') || (altKey && !ctrlKey && /^Mac/.test(navigator.platform))))
    return !metaKey
  return !(altKey || ctrlKey || metaKey) && (isCharacter || key === 'Enter' || key === 'Backspace')
}
