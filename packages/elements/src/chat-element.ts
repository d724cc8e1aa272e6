import type { AiAgent, AiAgentConfig } from '@aiagent/client'
import type { ConversationView, OpenLiveDesk } from '@aiagent/view'
import {
  type ChatHost,
  type ChatStringOverrides,
  type OpenChat,
  PROPERTIES,
  type RenderMessage,
} from './chat-options.ts'
import { consentPanel, failurePanel } from './consent/consent-panel.ts'
import { consentStrings } from './consent/consent-strings.ts'
import { checkAttributes } from './missing-attribute.ts'
import { keepKeys } from './own-keys.ts'
import { copyPlain, isSame } from './plain-data.ts'
import { languageAround } from './strings/language-around.ts'
import { adoptStyles } from './style/adopt-styles.ts'
import { BASE_STYLE, CHAT_COLOURS } from './style/base-style.ts'
import { createFrame, followPage } from './style/frame-style.ts'

/** On a server the class can be declared, but not used. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

const PARTS =
  'frame,header,title,subtitle,status,avatar,menu,log,message,message-user,message-agent,message-colleague,bubble,bubble-user,bubble-agent,bubble-colleague,desk,desk-mark,session-mark,link,image,masked,sources,source,option,rating,delivery,escalation,reasoning,copy,code-bar,button,primary-button,panel,choice,notice,ended,composer,composer-box,input,send,day,unread-divider,empty,to-end,working,consent'

/**
 * `<ai-agent-chat>`: a complete chat with an agent.
 *
 * Attributes: `endpoint` and `agent-id` (or the property {@link agent} or {@link config}), `heading`, `subtitle`, `avatar`, `lang`, `dir`, `theme`
 * (`light` or `dark`; default: as the page, else as the system), `consent` (`required`), `image-origins`, `support-email`, `show-reasoning`, `show-copy`, `signals`,
 * `auth-scheme` (`popup` or `redirect`), `desk-conversation` (`none`: `escalate` gets no conversation), `closable`. The element sets `ready` while the chat is shown.
 *
 * Events: `aiagent-ready` (`detail.agent`), `aiagent-error` (`detail.error`), `aiagent-unread` (`detail.count`, `detail.text`), `aiagent-consent` (`detail.granted`), `aiagent-close`, and with `signals`
 * `aiagent-signal` (`detail` is a `ConversationSignal`).
 *
 * Slots: `header`, `avatar`, `composer`, `empty`, `consent`. The user interface is loaded when the element is in a page, and after the
 * consent where that is required.
 */
export class AiAgentChatElement extends Base {
  /** Attributes whose changes take effect at once. */
  static readonly observedAttributes = [
    'endpoint',
    'agent-id',
    'auth-scheme',
    'desk-conversation',
    'heading',
    'subtitle',
    'avatar',
    'lang',
    'dir',
    'theme',
    'consent',
    'image-origins',
    'closable',
    'support-email',
    'show-reasoning',
    'show-copy',
    'signals',
  ]

  /**
   * An agent of the host app, which lives longer than the element. The element initializes and connects it, and leaves it as it
   * is when it is removed. Takes precedence over `config` and the attributes.
   *
   * @default undefined
   */
  declare agent?: AiAgent | undefined
  /**
   * Configuration of the agent that the element creates: what the attributes cannot express, such as `auth` or `context`.
   * Attributes take precedence. The element's defaults: `resume` and `retryInitialize`. An equal configuration changes nothing: plain
   * objects and arrays are compared by value, instances of classes by identity, and functions not at all: the newest one is called.
   *
   * @default undefined
   */
  declare config?: Partial<AiAgentConfig> | undefined
  /** Texts that replace those of the language. @default undefined */
  declare strings?: ChatStringOverrides | undefined
  /** Called by the login button, for hosts that sign their users in themselves. @default undefined */
  declare onLogin?: (() => unknown) | undefined
  /** Draws messages in place of the chat, for example from their `data`. @default undefined */
  declare renderMessage?: RenderMessage | undefined
  /** Questions that an empty conversation offers: one click sends one. @default undefined */
  declare suggestions?: readonly string[] | undefined
  /**
   * Opens a chat with a colleague, which continues in the same list. Set it before the chat opens.
   *
   * @default undefined: a hand-over is shown as ways to a human
   */
  declare escalate?: OpenLiveDesk | undefined

  readonly #root: ShadowRoot
  /** Holds all that is shown, while the element is in a page. */
  readonly #frame: HTMLElement
  /** Values of the properties. */
  readonly #given: Partial<Record<(typeof PROPERTIES)[number], unknown>> = {}
  /** The answer of the present user. */
  #consent: 'asked' | 'granted' | 'declined' = 'asked'
  /** What the host has named the present user by: its agent, or how its configuration authenticates; undefined for a visitor. */
  #user: unknown
  /** Whether the chat that is open is that of a user who has left, and the next one is to be asked. */
  #isOfFormer = false
  /** The agent whose users are followed. */
  #followed: { agent: AiAgent; stop: () => void } | undefined
  /** The element's agent while its next user is asked. */
  #kept: { agent: AiAgent; source: AiAgent | AiAgentConfig } | undefined
  #open: { chat: OpenChat; source: AiAgent | AiAgentConfig } | undefined
  #isScheduled = false
  /** The check for missing attributes: once for each element. */
  #check: unknown
  /** How often in a row the chat could not be opened. */
  #failures = 0
  /** Whether the focus moves into the chat when it opens: to write, or since it was in the question for consent. */
  #wantsFocus: boolean | 'kept' = false
  /** Opening and closing, one after the other: a chat opens when the socket of the one before is closed. */
  #work: Promise<void> = Promise.resolve()

  static {
    for (const name of PROPERTIES)
      Object.defineProperty(AiAgentChatElement.prototype, name, {
        configurable: true,
        enumerable: true,
        get(this: AiAgentChatElement) {
          return this.#given[name]
        },
        set(this: AiAgentChatElement, value: unknown) {
          this.#given[name] = value ?? undefined
          this.#schedule()
        },
      })
  }

  constructor() {
    super()
    this.#root = this.attachShadow({ mode: 'open', delegatesFocus: false })
    this.#frame = createFrame(this.#root, CHAT_COLOURS)
    this.#frame.setAttribute('part', 'frame')
    adoptStyles(this.#root, BASE_STYLE)
    keepKeys(this.#root)
    // Values that were set before the class was loaded are own properties, which hide the accessors.
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name]
      delete this[name]
      Object.assign(this, { [name]: value })
    }
  }

  /** The conversation; undefined until the chat has been loaded. */
  get view(): ConversationView | undefined {
    return this.#open?.chat.view
  }

  /**
   * Answers the question for consent, for hosts that ask it themselves. The answer counts until the user leaves, by a sign-out or a change of
   * the user: call it again for the next one.
   */
  grantConsent(): void {
    this.#answerConsent(true)
  }

  /** Moves the focus into the chat: to the text field, or to what the user must do first. */
  override focus(): void {
    const button = this.#root.querySelector<HTMLElement>('.consent button, .failure button')
    if (this.#open) this.#open.chat.focus()
    else if (button) button.focus()
    else this.#wantsFocus = true
  }

  /** @internal */
  connectedCallback(): void {
    // A host app names the parts of the launcher.
    const { host } = this.getRootNode() as Partial<ShadowRoot>
    if (host?.localName === 'ai-agent-launcher') this.setAttribute('exportparts', PARTS)
    else this.#check ??= checkAttributes(this)
    if (!this.#frame.parentNode) this.#root.append(this.#frame)
    this.#schedule()
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#schedule()
  }

  /** @internal */
  attributeChangedCallback(): void {
    this.#schedule()
  }

  /** Waits for the end of the present task, so that an element that is moved keeps its chat, and changes come together. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#work = this.#work.then(() => this.#apply()).catch(error => this.#fail(error))
    })
  }

  async #apply(): Promise<void> {
    this.#noteUser()
    const wanted = this.isConnected ? this.#source : undefined
    const source = this.#asksConsent ? undefined : wanted
    const isOfFormer = this.#isOfFormer
    this.#isOfFormer = false
    if (this.agent) this.#follow(this.agent)
    if (this.#open && (isOfFormer || !isSame(this.#open.source, source))) {
      const { chat, source: opened } = this.#open
      const hadFocus = this.#root.activeElement !== null
      this.#open = undefined
      this.removeAttribute('ready')
      const keepsAgent = isOfFormer && isSame(opened, wanted)
      if (keepsAgent && !this.agent) this.#kept = { agent: chat.agent, source: opened }
      const closed = chat.close(keepsAgent)
      this.#showConsent(hadFocus)
      await closed
      return this.#apply()
    }
    if (this.#kept && !isSame(this.#kept.source, wanted)) {
      const { agent } = this.#kept
      this.#kept = undefined
      await agent.destroy()
      return this.#apply()
    }
    this.#showConsent()
    this.#root.querySelector('.failure')?.remove()
    if (this.isConnected) followPage(this.#frame, this)
    else this.#frame.remove()
    if (this.#open) return this.#open.chat.update()
    if (source === undefined) return
    let newest = source
    // A copy, in which a change is noticed that the host makes in its own object.
    const copy = (): typeof source =>
      copyPlain(source, () => {
        const current = this.#source
        if (current && isSame(opened, current)) newest = current
        return newest
      })
    const opened = this.#kept?.source ?? copy()
    const { openChat } = await import('./app/open-chat.tsx')
    // The element may have been removed or changed while the code was loaded: what follows opens the chat that is wanted now.
    if (!this.isConnected || this.#asksConsent || !isSame(opened, this.#source)) return
    this.#open = { source: opened, chat: await openChat(this.#host(opened)) }
    this.#kept = undefined
    this.#failures = 0
    this.toggleAttribute('ready', true)
    this.#emit('aiagent-ready', { agent: this.#open.chat.agent })
    if (this.#wantsFocus) this.#open.chat.focus(this.#wantsFocus === true)
    this.#wantsFocus = false
    this.#schedule()
  }

  /** The host app's agent, or the configuration of one; undefined while both are missing. */
  get #source(): AiAgent | AiAgentConfig | undefined {
    if (this.agent) return this.agent
    const endpoint = this.getAttribute('endpoint') ?? this.config?.endpoint
    const id = this.getAttribute('agent-id') ?? this.config?.id
    if (!endpoint || !id) return undefined
    const scheme = this.getAttribute('auth-scheme')
    return {
      resume: true,
      retryInitialize: true,
      ...this.config,
      endpoint,
      id,
      ...(scheme && { authScheme: scheme as 'popup' | 'redirect' }),
    }
  }

  get #asksConsent(): boolean {
    return this.getAttribute('consent') === 'required' && this.#consent !== 'granted'
  }

  #languages(): (string | null | undefined)[] {
    return [languageAround(this), ...(globalThis.navigator?.languages ?? [])]
  }

  /** The answer of a user counts for that user: asks again when the user of an agent leaves, also while no chat is open. */
  #follow(agent: AiAgent): void {
    if (this.#followed?.agent === agent) return
    this.#followed?.stop()
    // The agent of a host app may live longer.
    const element = new WeakRef(this)
    const stop = agent.subscribe('phaseChanged', ({ payload: { at } }) => {
      const present = element.deref()
      if (at === 'leaving' && present) present.#forgetConsent()
    })
    this.#followed = { agent, stop }
  }

  /** The host may also exchange the user: by another agent, or by a configuration with the token of another user. */
  #noteUser(): void {
    const source = this.#source
    if (!source) return
    const auth = this.agent ?? Object(source).auth
    const user = auth?.type === 'anonymous' ? undefined : copyPlain(auth, () => auth)
    const hasLeft = this.#user !== undefined && !isSame(this.#user, user, userOf)
    this.#user = user
    if (hasLeft) this.#forgetConsent()
  }

  #forgetConsent(): void {
    this.#consent = 'asked'
    if (!this.#asksConsent) return
    this.#isOfFormer = true
    this.#schedule()
  }

  /** @param hadFocus whether the question takes the focus, but none of its buttons: the user may be typing */
  #showConsent(hadFocus = false): void {
    const shown = this.#root.querySelector('.consent')
    const focused = this.#root.activeElement
    const hasFocus = shown?.contains(focused) === true
    if (!this.isConnected || !this.#asksConsent) {
      this.#wantsFocus ||= hasFocus && 'kept'
      return shown?.remove()
    }
    const panel = consentPanel(
      { ...consentStrings(this.#languages()), ...this.strings },
      this.#consent === 'declined',
      { accept: () => this.#answerConsent(true), decline: () => this.#answerConsent(false) },
    )
    if (shown) shown.replaceWith(panel)
    else this.#frame.append(panel)
    if (hadFocus || (hasFocus && focused === shown)) {
      panel.tabIndex = -1
      panel.focus()
    } else if (hasFocus) this.focus()
  }

  #answerConsent(granted: boolean): void {
    this.#noteUser()
    this.#consent = granted ? 'granted' : 'declined'
    this.#emit('aiagent-consent', { granted })
    this.#schedule()
  }

  #host(source: AiAgent | AiAgentConfig): ChatHost {
    return {
      root: this.#root,
      frame: this.#frame,
      agent: this.agent ?? this.#kept?.agent,
      config: this.agent ? undefined : (source as AiAgentConfig),
      properties: this,
      languages: () => this.#languages(),
      attribute: name => this.getAttribute(name),
      hasSlotted: name => this.querySelector(`:scope > [slot="${name}"]`) !== null,
      follow: agent => this.#follow(agent),
      emit: (name, detail) => this.#emit(name, detail),
    }
  }

  #emit(name: string, detail?: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }

  /** The code of the chat could not be loaded, or the configuration is invalid: reported as an uncaught error of the page. */
  #fail(error: unknown): void {
    const strings = { ...consentStrings(this.#languages()), ...this.strings }
    const retry = () => {
      panel.remove()
      this.#schedule()
    }
    // Some engines remember a failed import for the life of the page.
    const mustReload = this.#failures++ > 0 && navigator.onLine
    const panel = failurePanel(strings, mustReload ? undefined : retry)
    this.#root.querySelector('.failure')?.remove()
    if (this.isConnected && !this.#open) this.#frame.append(panel)
    this.#emit('aiagent-error', { error })
    globalThis.reportError?.(error)
  }
}

/** The user whom a token names, by its issuer and subject; a value that names none stands for itself. */
function userOf(value: unknown): unknown {
  try {
    const claims = String(value).split('.')[1] ?? ''
    const { iss, sub, oid } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')))
    return sub || oid ? JSON.stringify([iss, sub || oid]) : value
  } catch {
    return value
  }
}
