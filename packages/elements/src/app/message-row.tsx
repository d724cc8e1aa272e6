/** @jsxImportSource preact */
import type { ConversationEscalation, ConversationMessage } from '@aiagent/view'
import { Component, type ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { differ } from '../markdown/differ.ts'
import { Link } from '../markdown/link.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { pieces } from '../markdown/pieces.tsx'
import type { ChatStrings } from '../strings/chat-strings.ts'
import { type ChatSettings, isFirstClick, shownByView } from './chat-settings.ts'
import { FIRST, FirstOf } from './first-of.tsx'
import { Icon, type IconName } from './icons.tsx'
import type { Times } from './times.ts'

export interface MessageRowProps {
  settings: ChatSettings
  message: ConversationMessage
  times: Times
  agentName: string | undefined
  /** Whether author and time stand above: not for a message that follows one of the same author. */
  isFirst: boolean
  /** Whether it is the last message of the user, which shows that it was sent. */
  isLastOfUser: boolean
  /** Whether the agent has said something after it. */
  isAnswered: boolean
  /** Whether it shows the rating of its turn, and the button that copies that. */
  hasTools: boolean
  /** Whether it does, and the user has written nothing since. */
  isPresent: boolean
  /** Whether the agent has named the ways to a human in its turn, which is the present one. */
  isHandedOver: boolean
  /** Whether it arrived while the chat was open. */
  isNew: boolean
  /** Whether the conversation has ended: nothing can be chosen or rated then. */
  isEnded: boolean
  /** Whether a chat with a colleague is open. */
  hasDesk: boolean
  /** Whether one was open in this conversation: then the way to a human leads back to it. */
  hadDesk: boolean
  /** Whether the lexer is loaded; a change renders the text again. */
  hasLexer: boolean
}

/** One message. Renders again only when one of its properties differs. */
export class MessageRow extends Component<MessageRowProps> {
  override shouldComponentUpdate(next: MessageRowProps): boolean {
    return differ(this.props, next)
  }

  render(props: MessageRowProps) {
    const {
      settings,
      message,
      times,
      agentName,
      isFirst,
      isLastOfUser,
      isNew,
      isEnded,
      isAnswered,
      hasLexer,
      hasDesk,
    } = props
    const { strings, view, Reasoning, Copy } = settings
    const { id, author, content, options, sources, escalation, time, reasoning } = message
    const isUser = author === 'user'
    const node = author === 'agent' ? nodeOf(message, settings) : undefined
    const canRate = props.hasTools && message.canRate && !isEnded
    const canCopy = Copy && props.hasTools && turnTexts(id, settings).length > 0
    const name = isUser
      ? strings.you
      : message.authorName || (author === 'colleague' ? strings.colleague : agentName || strings.agent)
    return (
      // biome-ignore lint/a11y/useSemanticElements: groups are between the list and its items
      <div
        role="listitem"
        class={`row ${author}${isFirst ? ' first' : ''}${isNew ? ' new' : ''}`}
        part={`message message-${author}`}
        data-id={id}
      >
        <p class={isFirst ? 'by' : 'sr'}>
          <bdi class={isUser ? 'sr' : 'name'}>{pieces(name)}</bdi>{' '}
          <bdi>
            <time dateTime={new Date(time).toISOString()}>{times.time(time)}</time>
          </bdi>
        </p>
        {isUser ? (
          <div class={`bubble ${message.delivery ?? ''}`} part="bubble bubble-user">
            {withMasks(message, settings)}
          </div>
        ) : node ? (
          <div key="host" class="bubble" part="bubble bubble-agent">
            <div dir="auto" ref={drawn => drawn?.replaceChildren(node)} />
          </div>
        ) : (
          <div class="bubble" part={`bubble bubble-${author}`}>
            <div class="text">
              <Markdown text={content} options={settings} hasLexer={hasLexer} />
            </div>
            {sources.length > 0 && <Sources settings={settings} sources={sources} />}
            {Reasoning && reasoning && <Reasoning strings={strings} text={reasoning} />}
          </div>
        )}
        {(canCopy || canRate) && (
          <Rating
            settings={settings}
            message={message}
            canRate={canRate}
            isPresent={props.isPresent}
            offersPerson={!props.isHandedOver && !hasDesk}
          >
            {canCopy && <Copy settings={settings} text={() => turnTexts(id, settings)} />}
          </Rating>
        )}
        {escalation && !hasDesk && (
          <Escalation settings={settings} id={id} escalation={escalation} hadDesk={props.hadDesk} />
        )}
        {message.canChoose && !isEnded ? (
          <Options strings={strings} options={options} onTake={option => view.choose(id, option)} />
        ) : (
          message.chosenOption !== undefined && <TakenOptions message={message} strings={strings} />
        )}
        {isUser && !(isEnded && isAnswered) && (
          <Delivery settings={settings} message={message} isLast={isLastOfUser} hasDesk={hasDesk} />
        )}
      </div>
    )
  }
}

/** What the agent has said in the turn of a message, but for what the host draws. */
function turnTexts(id: string, settings: ChatSettings): string[] {
  const { messages, newSession } = settings.view.getSnapshot()
  const at = messages.findIndex(message => message.id === id)
  const end = messages.findIndex(each => each.id === newSession?.after)
  const after = messages.findIndex(({ author }, index) => index > at && (author === 'user' || index - 1 === end))
  const before = messages.findLastIndex(({ author }, index) => index < at && (author === 'user' || index === end))
  return messages
    .slice(before + 1, after < 0 ? undefined : after)
    .filter(message => !message.mark && (message.author !== 'agent' || !nodeOf(message, settings)))
    .map(({ content }) => content.trim())
    .filter(Boolean)
}

/** The text of the user, with the masked parts marked. */
function withMasks({ content, maskedRanges }: ConversationMessage, { strings }: ChatSettings): ComponentChildren {
  if (maskedRanges.length === 0) return pieces(content)
  const parts: ComponentChildren[] = []
  let at = 0
  for (const { start, end } of maskedRanges) {
    parts.push(content.slice(at, start))
    parts.push(
      <span class="masked" part="masked" title={strings.masked}>
        {content.slice(start, end)}
        <span class="sr"> ({strings.masked})</span>
      </span>,
    )
    at = end
  }
  return [...parts, content.slice(at)]
}

function Sources({
  settings: { strings },
  sources,
}: { settings: ChatSettings } & Pick<ConversationMessage, 'sources'>) {
  return (
    <div class="sources" part="sources">
      <h3>{strings.sources}</h3>
      <ul>
        <FirstOf items={sources} strings={strings} isList>
          {({ title, url }) => (
            <li>
              <Icon name="link" />
              {url ? (
                <Link href={url} strings={strings} part="source">
                  {pieces(title)}
                </Link>
              ) : (
                <span>{pieces(title)}</span>
              )}
            </li>
          )}
        </FirstOf>
      </ul>
    </div>
  )
}

/** Answers or questions, of which one click sends one. */
export function Options({
  strings,
  options,
  onTake,
}: {
  strings: ChatStrings
  options: readonly string[]
  onTake(option: string): Promise<unknown>
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be read as a form
    <div class="options" role="group" aria-label={strings.options}>
      <FirstOf items={options} strings={strings}>
        {option => (
          <button
            type="button"
            class="option"
            part="option"
            dir="auto"
            onClick={event => isFirstClick(event) && shownByView(onTake(option))}
          >
            {pieces(option)}
          </button>
        )}
      </FirstOf>
    </div>
  )
}

/** The options of a question that was answered with one of them. */
function TakenOptions({
  message: { options, chosenOption = '' },
  strings,
}: {
  message: ConversationMessage
  strings: ChatStrings
}) {
  const isHidden = options.indexOf(chosenOption) >= FIRST
  return (
    <ul class="options" aria-label={strings.options} style={{ padding: 0, listStyle: 'none' }}>
      <FirstOf items={isHidden ? [chosenOption, ...options] : options} strings={strings} isList>
        {option => (
          <li
            class={option === chosenOption ? 'option past chosen' : 'option past'}
            aria-current={option === chosenOption || undefined}
            dir="auto"
          >
            {option === chosenOption && <Icon name="check" />}
            {pieces(option)}
          </li>
        )}
      </FirstOf>
    </ul>
  )
}

/** The rating of a turn of the agent, behind what copies the message. In the present turn it thanks, and offers a human after a bad one. */
function Rating({
  settings: { strings, view, announcer, supportEmail },
  message: { id, rating },
  canRate,
  isPresent,
  offersPerson,
  children,
}: {
  settings: ChatSettings
  message: ConversationMessage
  canRate: boolean
  isPresent: boolean
  offersPerson: boolean
  children: ComponentChildren
}) {
  const request = offersPerson && strings.askPerson
  const rate = async (rating: 'up' | 'down') => {
    await view.rate(id, rating)
    announcer.say(strings.thanks)
    if (rating === 'down' && request) announcer.say(`${strings.options}: ${request}`)
  }
  const button = (value: 'up' | 'down', label: string) => (
    <button
      type="button"
      class={`icon-button small ${value}`}
      part="rating"
      aria-label={label}
      aria-pressed={rating === value}
      title={label}
      onClick={() => shownByView(rate(value))}
    >
      <Icon name="up" />
    </button>
  )
  return (
    <>
      <div class="rating">
        {children}
        {canRate && button('up', strings.helpful)}
        {canRate && button('down', strings.notHelpful)}
        {isPresent && rating && <span>{strings.thanks}</span>}
      </div>
      {isPresent && rating === 'down' && offersPerson && (
        <div class="escalation-ways">
          {request && <Options strings={strings} options={[request]} onTake={text => view.send(text)} />}
          {supportEmail && <Way icon="mail" href={`mailto:${supportEmail}`} text={strings.email} />}
        </div>
      )}
    </>
  )
}

const TROUBLED = new Set<ConversationMessage['delivery']>(['unknown', 'failed'])

/** How far a message of the user is. A message that arrived says so only while it is the last one. */
function Delivery({
  settings,
  message,
  isLast,
  hasDesk,
}: {
  settings: ChatSettings
  message: ConversationMessage
  isLast: boolean
  hasDesk: boolean
}) {
  const { strings, view } = settings
  const { delivery = 'acknowledged', id, messageId } = message
  const isTroubled = TROUBLED.has(delivery)
  if (!isLast && !isTroubled && delivery !== 'queued' && delivery !== 'cancelled') return null
  const text = delivery === 'acknowledged' ? strings.sent : strings[delivery]
  return (
    <div class={isTroubled ? 'below trouble' : 'below'} part="delivery">
      <Icon name={isTroubled ? 'alert' : delivery === 'queued' || delivery === 'sending' ? 'clock' : 'check'} />
      <span>{text}</span>
      {/* A message without this id is for a colleague, who may have left. */}
      {isTroubled && (hasDesk || messageId) && (
        <button type="button" class="link-button" onClick={event => isFirstClick(event) && shownByView(view.retry(id))}>
          {strings.retry}
        </button>
      )}
      {delivery === 'queued' && (
        <button type="button" class="link-button" onClick={() => view.cancel(id)}>
          {strings.cancel}
        </button>
      )}
    </div>
  )
}

const WAYS = { phone: 'phone', sms: 'chat', email: 'mail' } as const

/** The ways to a human. */
function Escalation({
  settings: { strings, view, announcer, supportEmail },
  id,
  escalation,
  hadDesk,
}: {
  settings: ChatSettings
  id: string
  escalation: ConversationEscalation
  hadDesk: boolean
}) {
  const { url } = escalation
  /** Whether the host has no desk now, as out of hours. */
  const [isAway, setAway] = useState(false)
  const openDesk = async () => {
    if (await view.openDesk(id)) return
    setAway(true)
    announcer.say(strings.errorSetup)
  }
  const ways = escalation.options.flatMap(({ type, value }) => {
    const number = value?.replace(/[^\d+*#]/g, '') ?? ''
    if (type === 'phone' && value) return { type, href: `tel:${number}`, text: strings.call(value) }
    if (type === 'sms' && value) return { type, href: `sms:${number}`, text: strings.sms(value) }
    // The service names no address for email: the host app does.
    return type === 'email' && supportEmail ? { type, href: `mailto:${supportEmail}`, text: strings.email } : []
  })
  return (
    <div class="escalation" part="escalation">
      <h3>
        <Icon name="person" />
        {strings.escalation}
      </h3>
      {isAway ? <p>{strings.errorSetup}</p> : !url && ways.length === 0 && !hadDesk && <p>{strings.escalationNone}</p>}
      <div class="escalation-ways">
        {hadDesk && !isAway ? (
          <button
            type="button"
            class="button primary"
            part="button primary-button"
            onClick={event => isFirstClick(event) && shownByView(openDesk())}
          >
            <Icon name="chat" />
            {strings.escalationLive}
          </button>
        ) : (
          url && (
            <a class="button primary" part="button primary-button" href={url} target="_blank" rel="noopener noreferrer">
              <Icon name="chat" />
              {strings.escalationLive}
              <span class="sr"> ({strings.newWindow})</span>
            </a>
          )
        )}
        {ways.map(({ type, href, text }) => (
          <Way icon={WAYS[type]} href={href} text={text} />
        ))}
      </div>
    </div>
  )
}

function Way({ icon, href, text }: { icon: IconName; href: string; text: string }) {
  return (
    <a class="button outline" part="button" href={href}>
      <Icon name={icon} />
      {text}
    </a>
  )
}

/** What the host draws in place of a message. An error of the host is one of the page, and the message is shown as usual. */
function nodeOf(message: ConversationMessage, { renderMessage }: ChatSettings): Node | undefined {
  try {
    return renderMessage?.(message)
  } catch (error) {
    globalThis.reportError?.(error)
    return undefined
  }
}
