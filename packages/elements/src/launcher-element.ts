import type { AiAgent, AiAgentConfig } from '@aiagent/client'
import type { OpenLiveDesk } from '@aiagent/view'
import type { AiAgentChatElement } from './chat-element.ts'
import type { ChatStringOverrides, RenderMessage } from './chat-options.ts'
import { launcherTexts } from './launcher-strings.ts'
import { languageAround } from './strings/language-around.ts'
import { adoptStyles } from './style/adopt-styles.ts'
import { LAUNCHER_STYLE } from './style/launcher-style.ts'

/** On a server the class can be declared, but not used. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

/** What the chat takes from the launcher. */
const PROPERTIES = [
  'agent',
  'config',
  'strings',
  'onLogin',
  'renderMessage',
  'suggestions',
  'escalate',
  'showCopy',
] as const
const SLOTS = ['header', 'composer', 'empty', 'consent']
/** Attributes of the chat, which are passed on. */
const PASSED = [
  'endpoint',
  'agent-id',
  'auth-scheme',
  'heading',
  'lang',
  'dir',
  'theme',
  'consent',
  'image-origins',
  'support-email',
  'show-reasoning',
  'show-copy',
]

/** Where the open chat covers the page: the same in the style. */
const COVERS_PAGE = '(max-width: 30rem)'

/** What announces a click. */
const INTENT = ['pointerenter', 'focusin', 'touchstart'] as const

/**
 * `<ai-agent-launcher>`: a round button that opens an `<ai-agent-chat>`. The code of the chat is fetched when the button is
 * approached, the chat is opened with the first click, and stays as it is while it is closed. Until it is shown, a heading with a
 * button to close is in its place. A user who declines the consent closes it.
 *
 * Attributes: those of the chat, `open`, and `label` (name of the button). Properties: `agent`, `config`, `strings`, `onLogin`,
 * `renderMessage`, `suggestions`, `escalate` and `showCopy` of the chat. Both are passed on, also when they change later. Events: those of the chat, `aiagent-open`,
 * and `aiagent-close`, however it is closed.
 */
export class AiAgentLauncherElement extends Base {
  /** Attributes whose changes take effect at once. */
  static readonly observedAttributes = ['open', 'label', ...PASSED]

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
  /** Whether answers and blocks of code have a button that copies them. @default the attribute `show-copy` */
  declare showCopy?: boolean | undefined

  readonly #button: HTMLButtonElement
  readonly #badge: HTMLElement
  readonly #panel: HTMLDialogElement
  /** Closes the chat until the chat has a button for that. */
  readonly #closer: HTMLButtonElement
  readonly #title: HTMLElement
  /** Says to screen readers how many messages have arrived while the chat is closed. */
  readonly #said: HTMLElement
  /** Lets the page scroll again. */
  #releasePage: (() => void) | undefined
  /** The number of unread messages in words. */
  #unread = ''
  #chat: AiAgentChatElement | undefined
  /** Says that the chat could not be loaded. */
  #failure: HTMLElement | undefined
  /** Values of the properties. */
  readonly #given: Partial<Record<(typeof PROPERTIES)[number], unknown>> = {}

  static {
    for (const name of PROPERTIES)
      Object.defineProperty(AiAgentLauncherElement.prototype, name, {
        configurable: true,
        enumerable: true,
        get(this: AiAgentLauncherElement) {
          return this.#given[name]
        },
        set(this: AiAgentLauncherElement, value: unknown) {
          this.#given[name] = value
          if (this.#chat) Object.assign(this.#chat, { [name]: value })
          this.#show()
        },
      })
  }

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
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
    this.#panel.append(bar, skeleton)
    this.#panel.addEventListener('keydown', event => {
      if (event.key === 'Escape') this.#close()
    })
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
    root.append(this.#panel, this.#button, this.#said)
    // Values that were set before the class was loaded are own properties, which hide the accessors.
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name]
      delete this[name]
      Object.assign(this, { [name]: value })
    }
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
    if (name === 'open') {
      if ((before === null) === (value === null)) return
      if (this.open) this.#openChat()
      this.#emit(this.open ? 'aiagent-open' : 'aiagent-close')
    } else if (!PASSED.includes(name)) {
    } else if (value === null) this.#chat?.removeAttribute(name)
    else this.#chat?.setAttribute(name, value)
  }

  /** @internal */
  connectedCallback(): void {
    this.#show()
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#showPanel(false)
  }

  #close(): void {
    this.open = false
    this.#button.focus()
  }

  #openChat(): void {
    this.#failure?.remove()
    this.#fetch()
    // In the dialog it is told to a screen reader, and Escape closes it.
    if (!this.#chat?.hasAttribute('ready')) this.#closer.focus()
    this.#load().catch(error => this.#fail(error))
  }

  /** Fetches the code of the chat ahead, both parts at once. With a question for consent only the answer loads it. */
  #fetch(): void {
    if (this.getAttribute('consent') !== 'required')
      for (const code of [import('./index.ts'), import('./app/open-chat.tsx')]) code.catch(() => {})
  }

  get #texts() {
    return { ...launcherTexts([languageAround(this), ...navigator.languages]), ...this.strings }
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
    this.#panel.append(failure)
    if (this.open) again.focus()
    this.#emit('aiagent-error', { error })
    globalThis.reportError(error)
  }

  #emit(name: string, detail?: object): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }

  #show(): void {
    const label = this.getAttribute('label') ?? 'Chat'
    this.#button.setAttribute('aria-label', this.#unread ? `${label}, ${this.#unread}` : label)
    this.#button.setAttribute('aria-expanded', String(this.open))
    this.#closer.setAttribute('aria-label', this.#texts.close)
    this.#title.textContent = this.getAttribute('heading')
    this.#panel.setAttribute('aria-label', label)
    if (this.isConnected) this.#showPanel(this.open)
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
    if (!this.#chat) {
      this.#button.ariaBusy = 'true'
      await import('./index.ts').finally(() => {
        this.#button.ariaBusy = null
      })
      this.#chat ??= this.#create()
    }
    if (!this.open) return
    // A focused text field raises the keyboard of a phone, which covers half of the chat.
    if (matchMedia('(pointer: coarse)').matches) this.#panel.focus()
    else this.#chat.focus()
  }

  #create(): AiAgentChatElement {
    const chat = document.createElement('ai-agent-chat')
    for (const { name, value } of this.attributes) if (PASSED.includes(name)) chat.setAttribute(name, value)
    chat.toggleAttribute('closable', true)
    Object.assign(chat, this.#given)
    for (const name of SLOTS) {
      if (!this.querySelector(`:scope > [slot="${name}"]`)) continue
      const slot = document.createElement('slot')
      slot.name = slot.slot = name
      chat.append(slot)
    }
    // What it replaces follows it, so that a selector finds that.
    this.#panel.prepend(chat)
    return chat
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
