/**
 * The desk of an emulator in a page: conversations with customers, as the colleague sees them. The page `/desk` and the
 * playground show it. All text of others is data: nothing is inserted as HTML.
 */

/** @typedef {{ id: string, from: 'customer' | 'colleague', text: string, at: number }} Message */
/** @typedef {{ from: 'customer' | 'agent' | 'colleague', name?: string, text: string, at: number }} Context A message before the chat. */
/** @typedef {{ id: string, startedAt: number, state: 'waiting' | 'open' | 'ended', name?: string, isTyping: boolean, conversation: Context[], messages: Message[] }} Chat */
/**
 * @typedef {object} DeskOptions
 * @property {string} url Address of the emulator.
 * @property {(input: string, init?: RequestInit) => Promise<Response>} fetch
 * @property {(count: number) => void} [onWaiting] Called with the number of conversations that wait for a colleague.
 */

const RETRY_MS = 1000
/** Without a key for this time, the colleague is not writing any more. */
const TYPING_MS = 4000

/**
 * Shows the desk in an element.
 *
 * @param {HTMLElement} root
 * @param {DeskOptions} options
 * @returns {() => void} removes it
 */
export function showDesk(root, { url, fetch, onWaiting = () => {} }) {
  const controller = new AbortController()
  const { signal } = controller
  /** @type {Chat[]} */
  let chats = []
  /** @type {string | undefined} */
  let chosen
  /** Unsent answers of conversations. @type {Map<string | undefined, string>} */
  const drafts = new Map()
  /** What the desk does last. @type {Promise<unknown>} */
  let last = Promise.resolve()
  /** Whose typing the customer sees, and what ends it. @type {string | undefined} */
  let typingIn
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typingTimer

  const list = create('ul', { class: 'desk-chats' })
  const empty = create('p', { class: 'desk-empty' }, 'No conversation yet. Ask the agent for a human to open one.')
  const heading = create('h2', { tabindex: '-1' })
  const state = create('p', { class: 'desk-state' })
  const before = create('ol', { class: 'desk-before', 'aria-label': 'Before the hand-over' })
  const messages = create('ol', { 'aria-label': 'With you' })
  const log = create(
    'div',
    { class: 'desk-log', role: 'log', 'aria-label': 'Messages', tabindex: '0' },
    before,
    messages,
  )
  const name = create('input', { value: 'Support', autocomplete: 'off', required: '' })
  const text = create('textarea', { rows: '2', autocomplete: 'off' })
  const send = create('button', { class: 'desk-send' }, 'Send')
  const leave = create('button', { type: 'button' }, 'End the conversation')
  const form = create(
    'form',
    { class: 'desk-form' },
    create('label', { class: 'desk-answer' }, 'Answer', text),
    create('div', { class: 'desk-buttons' }, send, leave, create('label', {}, 'Your name', name)),
  )
  const chatView = create('section', { class: 'desk-chat', 'aria-label': 'Conversation' }, heading, state, log, form)
  chatView.hidden = true
  const problem = create('p', { class: 'desk-problem', role: 'alert' })
  const news = create('p', { class: 'desk-news', role: 'status' })
  const listView = create('section', { class: 'desk-list', 'aria-label': 'Conversations' }, list, empty)
  root.append(create('div', { class: 'desk' }, problem, news, listView, chatView))

  /** @param {string} method @param {string} path @param {object} [body] */
  const call = async (method, path, body) => {
    const init = { method, signal, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${url}/_control/desk${path}`, init)
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.message)
    return answer
  }

  /**
   * Does something in a conversation, after everything before it. Resolves with whether it was done.
   *
   * @param {string} id @param {string} action @param {object} [fields]
   */
  const act = (id, action, fields) => {
    const work = last.then(async () => {
      try {
        await call('POST', `/${id}/${action}`, { name: name.value.trim() || 'Support', ...fields })
        problem.textContent = ''
        return true
      } catch (error) {
        if (!signal.aborted) problem.textContent = error instanceof Error ? error.message : String(error)
        return false
      }
    })
    last = work
    return work
  }

  const stopTyping = () => {
    clearTimeout(typingTimer)
    if (typingIn !== undefined) void act(typingIn, 'typing', { isTyping: false })
    typingIn = undefined
  }

  /** @param {string | undefined} id */
  const choose = id => {
    stopTyping()
    drafts.set(chosen, text.value)
    chosen = id
    text.value = drafts.get(id) ?? ''
    before.replaceChildren()
    messages.replaceChildren()
    render()
  }

  /** @param {Chat} chat */
  const listItem = chat => {
    const button = create('button', { type: 'button', 'data-id': chat.id })
    button.addEventListener('click', () => {
      if (chosen !== chat.id) choose(chat.id)
      text.focus()
    })
    return create('li', {}, button)
  }

  const renderList = () => {
    empty.hidden = chats.length > 0
    const known = new Map([...list.children].map(item => [item.firstElementChild?.getAttribute('data-id'), item]))
    // The newest first. Items stay where they are, so that none loses the focus.
    for (const chat of chats) if (!known.has(chat.id)) list.prepend(listItem(chat))
    for (const [id, item] of known) if (!chats.some(chat => chat.id === id)) item.remove()
    for (const chat of chats) {
      const button = list.querySelector(`[data-id="${CSS.escape(chat.id)}"]`)
      if (!button) continue
      button.setAttribute('aria-current', String(chat.id === chosen))
      button.setAttribute('data-state', chat.state)
      button.replaceChildren(
        create('b', {}, titleOf(chat)),
        create('span', { class: 'desk-tag' }, chat.state),
        create('small', {}, chat.messages.at(-1)?.text ?? `since ${timeOf(chat.startedAt)}`),
      )
    }
  }

  const renderChat = () => {
    const chat = chats.find(({ id }) => id === chosen)
    chatView.hidden = chat === undefined
    if (!chat) return
    heading.textContent = titleOf(chat)
    state.textContent = describe(chat)
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 24
    before.hidden = chat.conversation.length === 0
    for (const message of chat.conversation.slice(before.children.length))
      before.append(messageItem(message, message.name ?? AUTHORS[message.from]))
    for (const message of chat.messages.slice(messages.children.length))
      messages.append(messageItem(message, message.from === 'customer' ? AUTHORS.customer : 'You'))
    if (isAtEnd) log.scrollTop = log.scrollHeight
    const hadFocus = form.contains(document.activeElement)
    form.hidden = chat.state === 'ended'
    if (form.hidden && hadFocus) heading.focus()
  }

  const render = () => {
    renderList()
    renderChat()
  }

  /** @param {Chat[]} next */
  const show = next => {
    const waiting = next.filter(chat => chat.state === 'waiting')
    const added = waiting.filter(({ id }) => !chats.some(chat => chat.id === id))
    if (added.length > 0) news.textContent = `${added.map(titleOf).join(', ')}: a customer waits.`
    chats = next
    if (chats.some(({ id }) => id === chosen)) render()
    else choose((waiting[0] ?? chats.at(-1))?.id)
    onWaiting(waiting.length)
  }

  const watch = async () => {
    /** @type {string | undefined} The state that is shown. */
    let seen
    while (!signal.aborted) {
      try {
        const next = await call('GET', seen === undefined ? '' : `?seen=${encodeURIComponent(seen)}`)
        if (seen === undefined) problem.textContent = ''
        seen = next.state
        show(next.chats)
      } catch {
        if (signal.aborted) return
        problem.textContent = NO_ANSWER
        seen = undefined
        await new Promise(resolve => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  form.addEventListener('submit', async event => {
    event.preventDefault()
    const id = chosen
    const said = text.value.trim()
    if (id === undefined || said === '') return
    clearTimeout(typingTimer)
    typingIn = undefined
    text.value = ''
    if (await act(id, 'say', { text: said })) return
    // The text comes back to its conversation, unless another one was begun there.
    if (chosen !== id) drafts.set(id, drafts.get(id) || said)
    else if (text.value === '') text.value = said
  })
  text.addEventListener('keydown', event => {
    // The Enter that confirms a composition has the key code 229; in Safari the composition has ended by then.
    if (event.keyCode !== 13 || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })
  text.addEventListener('input', () => {
    if (text.value.trim() === '') return stopTyping()
    clearTimeout(typingTimer)
    typingTimer = setTimeout(stopTyping, TYPING_MS)
    if (typingIn === chosen) return
    typingIn = chosen
    if (chosen !== undefined) void act(chosen, 'typing', { isTyping: true })
  })
  leave.addEventListener('click', () => {
    if (chosen !== undefined) void act(chosen, 'leave')
  })
  void watch()

  return () => {
    stopTyping()
    controller.abort()
    root.replaceChildren()
  }
}

const NO_ANSWER = 'The emulator does not answer. The next attempt follows in a second.'

/** Authors without a name. */
const AUTHORS = { customer: 'Customer', agent: 'Agent', colleague: 'Colleague' }

/** @param {Context} message @param {string} author */
const messageItem = ({ from, text, at }, author) =>
  create(
    'li',
    { class: `desk-from-${from}` },
    create('small', {}, author, ' ', timeOf(at)),
    create('p', { dir: 'auto' }, text),
  )

/** @param {Chat} chat */
const titleOf = chat => `Chat ${chat.id.slice('chat-'.length)}`

/** @param {Chat} chat */
function describe({ state, name, startedAt }) {
  const since = `Since ${timeOf(startedAt)}.`
  if (state === 'waiting') return `${since} The customer waits: your first key or answer opens the conversation.`
  if (state === 'ended') return `${since} The conversation has ended.`
  return `${since} The customer sees you as ${name ?? 'a colleague'}.`
}

/** @param {number} at */
const timeOf = at => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string>} attributes
 * @param {(string | Node)[]} children Text is added as text.
 */
function create(tag, attributes, ...children) {
  const element = document.createElement(tag)
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value)
  element.append(...children)
  return element
}
