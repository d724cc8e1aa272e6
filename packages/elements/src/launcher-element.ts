import type { AiAgent, AiAgentConfig } from '@aiagent/client'
import type { OpenLiveDesk } from '@aiagent/view'
import type { AiAgentChatElement } from './chat-element.ts'
import { type ChatStringOverrides, PROPERTIES, type RenderMessage } from './chat-options.ts'
import { launcherTexts } from './launcher-strings.ts'
import { checkAttributes } from './missing-attribute.ts'
import { keepKeys } from './own-keys.ts'
import { languageAround } from './strings/language-around.ts'
import { adoptStyles } from './style/adopt-styles.ts'
import { createFrame, followPage } from './style/frame-style.ts'
import { LAUNCHER_STYLE } from './style/launcher-style.ts'

/** On a server the class can be declared, but not used. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/** Where the open chat covers the page: the same in the style. */
const COVERS_PAGE = '(max-width: 30rem), (max-height: 30rem)'

/** What announces a click. */
const INTENT = ['pointerenter', 'focusin', 'touchstart'] as const

/**
 * `<ai-agent-launcher>`: a round button that opens an `<ai-agent-chat>`. The code of the chat is fetched when the button is
 * approached, the chat is opened with the first click, and stays as it is while it is closed. Until it is shown, a heading with a
 * button to close is in its place. A user who declines the consent closes it.
 *
 * Attributes: those of the chat, `open`, `label` (name of the button), `position` (`start` for the other side of the window),
 * `resume` (`idle` goes on with the conversation of the previous page) and `teaser` (shows the first line of an unread answer).
 * Properties: `agent`, `config`, `strings`, `onLogin`, `renderMessage`, `suggestions` and `escalate` of the chat. Both are
 * passed on, also when they change later. Events: those of the chat, `aiagent-open`, and `aiagent-close`, however it is closed.
 */
export class AiAgentLauncherElement extends Base {
  /** Attributes whose changes take effect at once, beside those of the chat. */
  static readonly observedAttributes = ['open', 'label', 'heading', 'lang', 'position', 'resume', 'teaser', 'consent']

  /** An agent of the host app. @default undefined */
  declare agent?: AiAgent | undefined
  /** Configuration of the agent that the chat creates. @default undefined */
  declare config?: Partial<AiAgentConfig> | undefined
  /** Texts that replace those of the language. @default undefined */
  declare strings?: ChatStringOverrides | undefined
  /** Called by the login button. @default undefined */
  declare onLogin?: (() => unknown) | undefined
  /** Draws messages in place of the chat. @default undefined */
  declare renderMessage?: RenderMessage | undefined
  /** Questions that an empty conversation offers. @default undefined */
  declare suggestions?: readonly string[] | undefined
  /** Opens a chat with a colleague in the same list. Set it before the chat opens. @default undefined */
  declare escalate?: OpenLiveDesk | undefined

  readonly #frame: HTMLElement
  readonly #button: HTMLButtonElement
  readonly #badge: HTMLElement
  readonly #panel: HTMLDialogElement
  /** Closes the chat until the chat has a button for that. */
  readonly #closer: HTMLButtonElement
  readonly #title: HTMLElement
  /** Takes what the user writes until the chat is there. */
  readonly #field: HTMLTextAreaElement
  /** Says to screen readers how many messages have arrived while the chat is closed. */
  readonly #said: HTMLElement
  /** Lets the page scroll again. */
  #releasePage: (() => void) | undefined
  /** The number of unread messages in words. */
  #unread = ''
  #chat: AiAgentChatElement | undefined
  /** Says that the chat could not be loaded. */
  #failure: HTMLElement | undefined
  /** Whether an opened chat leaves the focus where it is, since the user has not opened it. */
  #leavesFocus = false
  /** The check for missing attributes: once for each element. */
  #check: unknown

  static {
    // Frameworks set a property where an element has one, else an attribute.
    for (const name of PROPERTIES) AiAgentLauncherElement.prototype[name] = undefined
  }

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    this.#frame = createFrame(root)
    adoptStyles(root, LAUNCHER_STYLE)
    this.#button = button('launch', () => {
      this.open = !this.open
    })
    this.#button.setAttribute('part', 'launcher')
    this.#badge = element('span', 'badge')
    this.#badge.setAttribute('part', 'badge')
    this.#panel = element('dialog', 'panel') as HTMLDialogElement
    this.#panel.setAttribute('part', 'dialog')
    this.#panel.tabIndex = -1
    this.#button.append(
      icon('chat-icon', 'M21 12a8 8 0 0 1-8 8H4l2-3.2A8 8 0 1 1 21 12Z M8.5 12h.01 M12.5 12h.01 M16.5 12h.01'),
      icon('close-icon', 'M6 9l6 6 6-6'),
      this.#badge,
    )
    for (const name of INTENT) this.#button.addEventListener(name, () => this.#fetch(), { passive: true })
    const bar = element('div', 'bar')
    this.#title = element('div', 'title')
    this.#closer = button('close', () => this.#close())
    this.#closer.append(icon('', 'M6 6l12 12 M18 6 6 18'))
    bar.append(this.#title, this.#closer)
    const skeleton = element('div', 'skeleton')
    skeleton.append(element('i', ''), element('i', ''), element('i', ''))
    const box = element('div', 'composer-box')
    this.#field = element('textarea', '') as HTMLTextAreaElement
    this.#field.rows = 1
    // What a user was writing is not for the next one.
    const stopAt = ({ payload }: { payload: { at: string } }) => {
      if (payload.at === 'leaving') this.#field.value = ''
    }
    this.#field.addEventListener('input', () => this.agent?.subscribe('phaseChanged', stopAt), { once: true })
    box.append(this.#field)
    this.#panel.append(bar, skeleton, box)
    keepKeys(root)
    root.addEventListener('keydown', event => this.#press(event as KeyboardEvent))
    // A gesture of the system, such as "back" on a phone, closes a modal dialog.
    this.#panel.addEventListener('close', () => {
      if (this.open && !this.#panel.open) this.#close()
    })
    this.#panel.addEventListener('aiagent-close', event => {
      // The launcher reports it, however it is closed.
      event.stopPropagation()
      this.#close()
    })
    this.#panel.addEventListener('aiagent-consent', event => {
      if (!(event as CustomEvent<{ granted: boolean }>).detail.granted) this.#close()
    })
    this.#panel.addEventListener('aiagent-unread', event => {
      const { count, text } = (event as CustomEvent<{ count: number; text: string }>).detail
      this.#badge.textContent = count > 99 ? '99+' : String(count || '')
      this.#unread = text
      this.#said.textContent = this.open ? '' : text
      this.#show()
    })
    this.#said = element('span', 'said')
    this.#said.setAttribute('aria-live', 'polite')
    this.#frame.append(this.#panel, this.#button, this.#said)
    root.append(this.#frame)
    this.#show()
  }

  /** Whether the chat is open. */
  get open(): boolean {
    return this.hasAttribute('open')
  }
  set open(open: boolean) {
    this.toggleAttribute('open', open)
  }

  /** The chat; undefined before it was opened. */
  get chat(): AiAgentChatElement | undefined {
    return this.#chat
  }

  /** @internal */
  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    this.#show()
    if (name !== 'open' || (before === null) === (value === null)) return
    if (this.open) this.#openChat()
    else this.#leavesFocus = false
    this.#emit(this.open ? 'aiagent-open' : 'aiagent-close')
  }

  /** @internal */
  connectedCallback(): void {
    this.#check ??= checkAttributes(this)
    this.#show()
    if (this.hasAttribute('resume') && !this.#asksConsent) this.#resume().catch(() => {})
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#showPanel(false)
  }

  #press(event: KeyboardEvent): void {
    const { key, keyCode, target, isComposing, ctrlKey, metaKey, altKey } = event
    // An input method takes the key, in Safari also the one that ends a composition.
    if (isComposing || keyCode === 229 || !this.open) return
    if (key === 'Escape') this.#close()
    else if (key === 'Enter' && target === this.#field && !event.shiftKey) event.preventDefault()
    // The browser writes it into the field that has the focus then.
    else if (key.length === 1 && target === this.#panel && !(ctrlKey || metaKey || altKey)) this.#field.focus()
  }

  #close(): void {
    this.open = false
    this.#button.focus()
  }

  #openChat(): void {
    this.#failure?.remove()
    this.#fetch()
    // With the focus in the dialog, a screen reader announces it, Escape closes it, and typing activates no button.
    if (!this.#leavesFocus && !this.#chat?.hasAttribute('ready')) this.#panel.focus()
    this.#load().catch(error => this.#fail(error))
  }

  /** Fetches the code of the chat ahead, all at once. With a question for consent only the answer loads it. */
  #fetch(): void {
    if (!this.#asksConsent)
      for (const code of [import('./launcher/launched-chat.ts'), import('./index.ts'), import('./app/open-chat.tsx')])
        code.catch(() => {})
  }

  get #asksConsent(): boolean {
    return this.getAttribute('consent') === 'required'
  }

  /** Goes on with the conversation that the previous page of the tab has left, without moving the focus. */
  async #resume(): Promise<void> {
    const { recall } = await import('./launcher/page-memory.ts')
    const wasOpen = await recall(this)
    if (wasOpen === undefined || this.#chat || !this.isConnected) return
    // On a phone the chat would cover the page that the user has gone to.
    if (!wasOpen || matchMedia(COVERS_PAGE).matches) return this.#load()
    this.#leavesFocus = true
    this.open = true
  }

  get #texts() {
    const texts = { ...launcherTexts([languageAround(this), ...navigator.languages]), ...this.strings }
    return { ...texts, label: this.getAttribute('label') ?? texts.label }
  }

  /** The code of the chat could not be loaded: says so, reports it, and offers to load it again. */
  #fail(error: unknown): void {
    const { loadFailed, loadAgain, reload } = this.#texts
    // Some engines remember a failed import for the life of the page.
    const mustReload = this.#failure && navigator.onLine
    const failure = element('div', 'failure')
    failure.setAttribute('role', 'alert')
    failure.dir = 'auto'
    const text = element('p', '')
    text.textContent = loadFailed
    const again = button('again', () => (mustReload ? location.reload() : this.#openChat()))
    again.textContent = mustReload ? reload : loadAgain
    failure.append(text, again)
    this.#failure?.remove()
    this.#failure = failure
    this.#closer.parentElement?.after(failure)
    if (this.open) again.focus()
    this.#emit('aiagent-error', { error })
    globalThis.reportError(error)
  }

  #emit(name: string, detail?: object): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }

  #show(): void {
    const { label, close } = this.#texts
    this.#button.setAttribute('aria-label', this.#unread ? `${label}, ${this.#unread}` : label)
    this.#button.setAttribute('aria-expanded', String(this.open))
    this.#closer.setAttribute('aria-label', close)
    this.#field.ariaLabel = label
    const box = this.#field.parentElement
    // Nothing is asked of who has not agreed yet.
    if (box) box.hidden = this.#asksConsent
    const heading = this.getAttribute('heading')
    this.#title.textContent = heading
    const shown = this.#chat?.shadowRoot?.querySelector('#title')
    this.#panel.setAttribute('aria-label', heading || shown?.textContent || label)
    if (!this.isConnected) return
    followPage(this.#frame, this)
    this.#showPanel(this.open)
  }

  /** Where the chat covers the page, that is inert and does not scroll. */
  #showPanel(open: boolean): void {
    if (open === this.#panel.open) return
    if (!open) {
      this.#panel.close()
      this.#releasePage?.()
      this.#releasePage = undefined
    } else if (matchMedia(COVERS_PAGE).matches) {
      const { style } = document.documentElement
      const { overflow } = style
      style.overflow = 'hidden'
      this.#releasePage = () => {
        style.overflow = overflow
      }
      this.#panel.showModal()
    } else this.#panel.open = true
  }

  async #load(): Promise<void> {
    if (this.open) this.#button.ariaBusy = 'true'
    const [{ createChat, fitVisiblePart }] = await Promise.all([
      import('./launcher/launched-chat.ts'),
      import('./index.ts'),
    ]).finally(() => {
      this.#button.ariaBusy = null
    })
    this.#chat ??= createChat(this, this.#panel)
    if (!this.open) return
    fitVisiblePart(this.#panel)
    if (this.#leavesFocus) return
    // A focused text field raises the keyboard of a phone, which covers half of the chat.
    if (this.#field.matches(':focus')) return
    if (matchMedia('(pointer: coarse)').matches) this.#panel.focus()
    else this.#chat.focus()
  }
}

function element(name: string, className: string): HTMLElement {
  const created = document.createElement(name)
  created.className = className
  return created
}

function button(className: string, onClick: () => void): HTMLButtonElement {
  const created = element('button', className) as HTMLButtonElement
  created.type = 'button'
  created.addEventListener('click', onClick)
  return created
}

function icon(className: string, path: string): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(namespace, 'svg')
  svg.setAttribute('class', className)
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const line = document.createElementNS(namespace, 'path')
  line.setAttribute('d', path)
  svg.append(line)
  return svg
}
