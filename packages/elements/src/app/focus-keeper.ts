/**
 * Keeps the focus in the chat: when the focused element disappears, for example an option that was chosen, the focus moves to
 * what the user does next, and not to the start of the page.
 *
 * @returns the undo
 */
export function keepFocus(root: ShadowRoot): () => void {
  let last: Element | undefined
  const remember = (event: Event) => {
    last = event.composedPath()[0] as Element
  }
  const forget = () => {
    // An element that is removed is blurred without a new target too: the observer tells the two apart.
    queueMicrotask(() => {
      if (last?.isConnected && !root.activeElement) last = undefined
    })
  }
  const observer = new MutationObserver(() => {
    if (!last || last.isConnected) return
    last = undefined
    const { activeElement } = document
    // The user has moved on.
    if (activeElement && activeElement !== document.body && activeElement !== root.host) return
    focusNext(root, false)
  })
  root.addEventListener('focusin', remember)
  root.addEventListener('focusout', forget)
  observer.observe(root, { childList: true, subtree: true })
  return () => {
    root.removeEventListener('focusin', remember)
    root.removeEventListener('focusout', forget)
    observer.disconnect()
  }
}

/**
 * Moves the focus to the text field, else to the panel or the notice that waits for the user, else to the conversation.
 *
 * @param isAsked whether the user wants to write: else the text field, which raises the keyboard of a phone over what the user wants
 *   to read, is left out where a finger points
 */
export function focusNext(root: ShadowRoot, isAsked: boolean): void {
  const mayWrite = isAsked || !matchMedia('(pointer: coarse)').matches
  const target = [...(mayWrite ? ['textarea'] : []), '[data-focus]', '[role="log"]']
    .map(name => root.querySelector<HTMLElement>(name))
    .find(found => found !== null)
  target?.focus()
}
