import type { ConsentStrings } from './consent-strings.ts'

/** Answers of the user to the question for consent. */
export interface ConsentAnswers {
  accept(): void
  decline(): void
}

/**
 * Builds the question for consent from plain nodes: what renders the chat is not loaded yet.
 *
 * @param isDeclined whether the user has declined: the panel then only offers to start after all
 */
export function consentPanel(
  strings: ConsentStrings & { direction: string },
  isDeclined: boolean,
  { accept, decline }: ConsentAnswers,
): HTMLElement {
  const panel = node('section', 'panel consent', 'consent')
  panel.dir = strings.direction
  const body = node('div', 'panel-body')
  const slot = document.createElement('slot')
  slot.name = 'consent'
  const title = node('h2', 'panel-title', undefined, strings.consentTitle)
  title.id = 'consent-title'
  panel.setAttribute('aria-labelledby', title.id)
  slot.append(node('p', 'panel-text', undefined, strings.consentText))
  const buttons = node('div', 'panel-actions')
  buttons.append(button(strings.consentAccept, 'primary', accept))
  if (isDeclined) slot.replaceChildren(node('p', 'panel-text', undefined, strings.consentDeclined))
  else buttons.append(button(strings.consentDecline, 'plain', decline))
  body.append(title, slot, buttons)
  panel.append(body)
  return panel
}

/** Says that the chat could not be loaded. Without `onRetry` it offers to reload the page. */
export function failurePanel(strings: ConsentStrings & { direction: string }, onRetry?: () => void): HTMLElement {
  const panel = node('section', 'panel failure')
  panel.dir = strings.direction
  panel.setAttribute('role', 'alert')
  const body = node('div', 'panel-body')
  const again = onRetry
    ? button(strings.loadAgain, 'primary', onRetry)
    : button(strings.reload, 'primary', () => location.reload())
  body.append(node('p', 'panel-title', undefined, strings.loadFailed), again)
  panel.append(body)
  return panel
}

function node(name: string, className: string, part?: string, text?: string): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  if (part) element.setAttribute('part', part)
  if (text) element.textContent = text
  return element
}

function button(text: string, kind: 'primary' | 'plain', onClick: () => void): HTMLElement {
  const element = node('button', `button ${kind}`, `button ${kind}-button`, text)
  element.setAttribute('type', 'button')
  element.addEventListener('click', onClick)
  return element
}
