/** @jsxImportSource preact */
import { AiAgent, type AiAgentConfig, LogLevel } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { render } from 'preact'
import type { ChatHost, OpenChat } from '../chat-options.ts'
import { hasMarkdown, loadMarkdown } from '../markdown/load-markdown.ts'
import type { ChatStrings } from '../strings/chat-strings.ts'
import { findLanguage, loadStrings } from '../strings/languages.ts'
import { adoptStyles } from '../style/adopt-styles.ts'
import { CHAT_STYLE } from '../style/chat-style.ts'
import { createAnnouncer } from './announcer.ts'
import { Chat } from './chat.tsx'
import { type ChatSettings, shownByView } from './chat-settings.ts'
import { focusNext, keepFocus } from './focus-keeper.ts'

/** Longest wait of a conversation for the code of its Markdown, in milliseconds: then it shows the text as it was written. */
const MARKDOWN_MS = 500

/** Resolves with the promise, or when it has taken too long. */
const soon = (work: Promise<void>) => Promise.race([work, new Promise(resolve => setTimeout(resolve, MARKDOWN_MS))])

/** The code of an optional part cannot be loaded: the chat goes on without it, until the next change of the element. */
const shownWithout = () => {}

/** What attributes of the element add to the chat. */
type OptionalParts = Pick<ChatSettings, 'Reasoning' | 'Copy'>

/** Whether a sign-in leaves the page, as far as the element knows: an agent of the host has its own options. */
function leavesToSignIn({ config, properties }: ChatHost): boolean {
  if (!config || properties.onLogin) return false
  const { auth, authScheme } = config
  const own = Object(Object(auth).config) as { authScheme?: unknown }
  return (auth ? (own.authScheme ?? 'redirect') : authScheme) === 'redirect'
}

/** Opens a chat in an element: creates the agent unless the host app has one, and starts it. */
export async function openChat(host: ChatHost): Promise<OpenChat> {
  const { root, frame, properties, attribute } = host
  const agent = host.agent ?? new AiAgent({ logLevel: LogLevel.WARN, ...(host.config as AiAgentConfig) })
  host.follow(agent)
  const view = createConversationView(agent, {
    interactive: false,
    keepsUnread: true,
    onLogin: () => properties.onLogin?.(),
    ...(properties.escalate && { escalate: (...given) => properties.escalate?.(...given) }),
    passesConversation: attribute('desk-conversation') !== 'none',
  })
  // Where the user can do something, the chat offers that; the rest is for the host.
  const stopReporting = agent.subscribe('phaseChanged', ({ payload }) => {
    const { error } = payload as { error?: unknown }
    const { code, name } = Object(error) as { code?: unknown; name?: unknown }
    const isEnded = /abort/i.test(`${code} ${name}`)
    if (error !== undefined && !isEnded && view.getSnapshot().connection.remedy === 'none')
      host.emit('aiagent-error', { error })
  })
  shownByView(view.start())
  adoptStyles(root, CHAT_STYLE)
  const mount = document.createElement('div')
  mount.className = 'chat'
  mount.setAttribute('role', 'region')
  mount.setAttribute('aria-labelledby', 'title')
  const announcer = createAnnouncer()
  frame.append(mount, announcer.region)
  const stopKeeping = keepFocus(root)
  let isClosed = false
  let language = ''
  let strings: ChatStrings | undefined
  const parts: Partial<OptionalParts> = {}
  let stopSignals: (() => void) | undefined
  const has = (name: string) => attribute(name) !== null

  const draw = () => {
    if (isClosed || !strings) return
    const texts = { ...strings, ...properties.strings }
    const wanted = attribute('dir')
    const direction = wanted === 'ltr' || wanted === 'rtl' ? wanted : texts.direction
    mount.dir = direction
    mount.lang = texts.language
    const settings: ChatSettings = {
      root,
      agent,
      view,
      announcer,
      direction,
      strings: texts,
      heading: attribute('heading'),
      subtitle: attribute('subtitle'),
      avatar: attribute('avatar'),
      imageOrigins: attribute('image-origins')?.split(/\s+/).filter(Boolean) ?? [],
      supportEmail: attribute('support-email'),
      isClosable: has('closable'),
      leavesToSignIn: leavesToSignIn(host),
      Reasoning: has('show-reasoning') ? parts.Reasoning : undefined,
      Copy: has('show-copy') ? parts.Copy : undefined,
      renderMessage: properties.renderMessage,
      suggestions: properties.suggestions,
      hasSlotted: host.hasSlotted,
      emit: host.emit,
    }
    render(<Chat settings={settings} />, mount)
  }
  const add = (part: Promise<Partial<OptionalParts> & { readonly STYLE: string }>) => {
    part.then(loaded => {
      Object.assign(parts, loaded)
      adoptStyles(root, loaded.STYLE)
      draw()
    }, shownWithout)
  }
  // Beside the texts, so that a conversation that is there already is rendered once, and not first as it was written.
  const markdown = view.getSnapshot().messages.some(({ content }) => hasMarkdown(content)) && soon(loadMarkdown())
  const load = async () => {
    if (has('show-reasoning') && !parts.Reasoning) add(import('./reasoning.tsx'))
    if (has('show-copy') && !parts.Copy) add(import('./copy.tsx'))
    if (has('signals')) stopSignals ??= view.onSignal(signal => host.emit('aiagent-signal', signal))
    else stopSignals = void stopSignals?.()
    const wanted = findLanguage(host.languages())
    if (wanted === language) return draw()
    language = wanted
    const [loaded] = await Promise.all([loadStrings(wanted), markdown])
    // Another language was asked for meanwhile.
    if (wanted !== language) return
    strings = loaded
    draw()
  }
  await load()

  return {
    agent,
    view,
    update: () => shownByView(load()),
    focus: (isAsked = true) => focusNext(root, isAsked),
    async close(keepsAgent = false) {
      isClosed = true
      stopReporting()
      stopKeeping()
      announcer.clear()
      render(null, mount)
      mount.remove()
      announcer.region.remove()
      // Does not wait for the stores of a user who has left. A sign-in that is still running continues in the next chat.
      if (keepsAgent) return void Promise.allSettled([view.leave(), view.destroy()])
      await view.destroy()
      if (host.config) await agent.destroy()
    },
  }
}
