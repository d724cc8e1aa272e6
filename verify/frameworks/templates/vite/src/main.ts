import { AiAgent } from '@aiagent/client'
import { type ConversationMessage, createConversationView } from '@aiagent/view'
import './chat.css'

const view = createConversationView(new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true }))
const find = <E extends HTMLElement>(selector: string) => document.querySelector(selector) as E
const [status, list, form, input] = [find('[role=status]'), find('ol'), find('form'), find<HTMLInputElement>('input')]

function make(tag: string, text: string, attributes: Record<string, string> = {}): HTMLElement {
  const element = document.createElement(tag)
  element.textContent = text
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}

function button(text: string, action: () => Promise<unknown>, pressed: boolean, isDisabled = false, style = 'option') {
  const element = make('button', text, { type: 'button', class: style, 'aria-pressed': String(pressed) })
  element.toggleAttribute('disabled', isDisabled)
  // An action that fails sets `error` of the snapshot.
  element.onclick = () => action().catch(() => {})
  return element
}

function item(message: ConversationMessage): HTMLElement {
  const { id, author, content, delivery, sources, options, chosenOption, canChoose, canRate, rating } = message
  const element = make('li', '', { class: author, 'data-delivery': delivery ?? '' })
  element.append(
    make('p', content),
    ...sources.map(({ title, url }) => make('a', title, url ? { href: url } : {})),
    ...options.map(option => button(option, () => view.choose(id, option), option === chosenOption, !canChoose)),
    ...(canRate ? [button('Helpful', () => view.rate(id, 'up'), rating === 'up', false, 'rating')] : []),
  )
  return element
}

/** Elements by their message: a message that has not changed is the same object, and keeps its element. */
let items = new Map<ConversationMessage, HTMLElement>()

function draw(): void {
  const { messages, isWorking, connection, error, draft } = view.getSnapshot()
  items = new Map(messages.map(message => [message, items.get(message) ?? item(message)]))
  list.replaceChildren(
    ...items.values(),
    ...(isWorking ? [make('li', 'The agent is writing …', { class: 'working' })] : []),
  )
  status.hidden = connection.state === 'connected' && !connection.isOffline && !error
  // `error.message` is for developers; `error.code` says which sentence a user needs.
  const failed = error && (error.code === 'action_failed' ? 'That did not work.' : 'The chat is not available.')
  status.textContent = connection.isOffline ? 'You are offline.' : (failed ?? `Chat is ${connection.state} …`)
  if (connection.remedy === 'retry')
    status.append(
      ' ',
      button('Try again', () => view.retry(), false),
    )
  if (input.value !== draft) input.value = draft
}

input.oninput = () => view.setDraft(input.value)
form.onsubmit = event => {
  event.preventDefault()
  view.send().catch(() => {})
}
view.subscribe(draw)
view.start().catch(() => {})
draw()
