/** @jsxImportSource preact */
import type { ChatClosed } from '@aiagent/client'
import type { ConversationError, ConversationSnapshot } from '@aiagent/view'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ChatStrings } from '../strings/chat-strings.ts'
import { errorSentence } from '../strings/error-sentence.ts'
import { type ChatSettings, deskText, isFirstClick, shownByView } from './chat-settings.ts'
import { Icon } from './icons.tsx'
import { blockedText, useSignIn } from './use-sign-in.ts'
import { type ConnectionLine, useSecondsUntil } from './use-view.ts'

/** Least time between two attempts that the user asks for, in milliseconds. */
const TRY_EVERY_MS = 1000

interface NoticesProps {
  settings: ChatSettings
  snapshot: ConversationSnapshot
  line: ConnectionLine
  /** How the chat was closed, where it is; empty where that is not known. */
  closed: Partial<ChatClosed> | undefined
}

/** Lines between the conversation and the text field: the connection, errors, a login, the end of the conversation. */
export function Notices({ settings, snapshot, line, closed }: NoticesProps) {
  const { strings, view, announcer } = settings
  const error = closed ? undefined : errorText(snapshot.error, strings)
  const { desk } = snapshot
  const ofDesk = desk && deskText(desk, strings)
  // Who has joined is said with the mark in the list.
  const spokenOfDesk = desk?.isElsewhere || desk?.waitingSince !== undefined ? ofDesk : undefined
  const { trouble } = line
  const isAway = trouble === 'connecting' || trouble === 'reconnecting'
  // A service that asks for a wait can be reached.
  const reason = isAway && (snapshot.connection.isWaitAsked ? 'waitAsked' : line.isLong && 'unreachable')
  const troubleText = trouble && strings[reason || trouble]
  const spoken = closed ? strings.ended : (troubleText ?? error ?? spokenOfDesk)
  useEffect(() => {
    if (spoken) announcer.say(spoken)
  }, [spoken, announcer])
  if (closed) return <Ended settings={settings} />
  return (
    <>
      {trouble && (
        <div class="notice" part="notice">
          <Icon name={trouble === 'offline' ? 'offline' : 'clock'} />
          <span>
            {troubleText}
            {snapshot.connection.remedy === 'wait' && (line.isLong || trouble === 'reconnecting') && (
              <NextAttempt settings={settings} connection={snapshot.connection} isLong={line.isLong} />
            )}
          </span>
        </div>
      )}
      {desk && (
        <div class="notice" part="notice desk">
          <Icon name="person" />
          <span>{ofDesk}</span>
          {!desk.isElsewhere && (
            <button type="button" class="link-button" onClick={view.endDesk}>
              {strings.deskEnd}
            </button>
          )}
        </div>
      )}
      {snapshot.needsLogin && <Login settings={settings} error={snapshot.error} />}
      {snapshot.connection.state === 'failed' && !snapshot.needsLogin && (
        <div class="notice trouble" part="notice">
          <Icon name="alert" />
          <span>{strings.errorTitle}</span>
          {snapshot.connection.remedy === 'retry' && (
            <button type="button" class="link-button" onClick={() => shownByView(view.retry())}>
              {strings.retryStart}
            </button>
          )}
        </div>
      )}
      {error && snapshot.connection.state !== 'failed' && (
        <div class="notice trouble" part="notice">
          <Icon name="alert" />
          <span>{error}</span>
          <button type="button" class="icon-button small" aria-label={strings.dismiss} onClick={view.clearError}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </>
  )
}

/** The user must sign in to go on. */
function Login({ settings, error }: Pick<NoticesProps, 'settings'> & Pick<ConversationSnapshot, 'error'>) {
  const { strings, announcer } = settings
  const { isRunning, isCancelled, waitingText, open, cancel } = useSignIn(settings)
  const problem = isRunning || isCancelled ? undefined : blockedText(error, strings)
  useEffect(() => announcer.say(strings.loginTitle), [announcer])
  return (
    <div class="notice" part="notice">
      <Icon name="lock" />
      {problem ? <span role="alert">{problem}</span> : <span key="text">{waitingText ?? strings.loginTitle}</span>}
      <button type="button" class="link-button" onClick={open}>
        {waitingText && !settings.leavesToSignIn ? strings.loginAgain : problem ? strings.retryStart : strings.login}
      </button>
      {waitingText && (
        <button type="button" class="link-button" onClick={cancel}>
          {strings.loginCancel}
        </button>
      )}
    </div>
  )
}

/** When the next attempt to connect follows, and what the user can do instead of waiting for it. */
function NextAttempt({
  settings: { strings, view, supportEmail, announcer },
  connection: { state, retryAt, isWaitAsked },
  isLong,
}: Pick<NoticesProps, 'settings'> & Pick<ConversationSnapshot, 'connection'> & { isLong: boolean }) {
  const seconds = useSecondsUntil(retryAt)
  const triedAt = useRef(Number.NEGATIVE_INFINITY)
  const isAsked = isWaitAsked && seconds > 0
  const isTrying = state !== 'reconnecting'
  const [count, unit] = seconds > 90 ? ([Math.ceil(seconds / 60), 'minute'] as const) : ([seconds, 'second'] as const)
  const tryNow = () => {
    const now = performance.now()
    if (isTrying || now - triedAt.current < TRY_EVERY_MS) return
    triedAt.current = now
    announcer.say(strings.connecting)
    shownByView(view.retry())
  }
  return (
    <>
      <br />
      {seconds > 0
        ? strings.nextAttempt(new Intl.RelativeTimeFormat(strings.language).format(count, unit))
        : strings.connecting}
      <span class="notice-actions">
        {!isAsked && (
          <button type="button" class="link-button" aria-disabled={isTrying} onClick={tryNow}>
            {strings.tryNow}
          </button>
        )}
        {isLong && supportEmail && (
          <a class="link-button" href={`mailto:${supportEmail}`}>
            {strings.email}
          </a>
        )}
      </span>
    </>
  )
}

/** The conversation has ended. The focus stays where it is: the user may be typing. */
function Ended({ settings: { strings, view } }: Pick<NoticesProps, 'settings'>) {
  const [isAsking, setAsking] = useState(false)
  const cancel = useRef<HTMLButtonElement>(null)
  useEffect(() => cancel.current?.focus(), [isAsking])
  return (
    <div class="notice ended" part="ended">
      <div id="ended-text">
        <b>{isAsking ? strings.restartAsk : strings.ended}</b>
        {!isAsking && <p>{strings.endedText}</p>}
      </div>
      <div class="panel-actions">
        {isAsking ? (
          <button
            key="cancel"
            type="button"
            class="button primary"
            part="button primary-button"
            ref={cancel}
            aria-describedby="ended-text"
            onClick={() => setAsking(false)}
          >
            {strings.loginCancel}
          </button>
        ) : (
          <button
            key="continue"
            type="button"
            class="button primary"
            part="button primary-button"
            onClick={() => shownByView(view.retry())}
          >
            {strings.continue}
          </button>
        )}
        <button
          type="button"
          class="button outline"
          part="button"
          onClick={event => (isAsking ? isFirstClick(event) && shownByView(view.restart()) : setAsking(true))}
        >
          {strings.restart}
        </button>
      </div>
    </div>
  )
}

/** What the user is told of an error; nothing where the connection line or the login says it. */
function errorText(error: ConversationError | undefined, strings: ChatStrings): string | undefined {
  if (!error || error.remedy === 'login') return undefined
  return error.remedy === 'wait' && error.code !== 'queue_full' ? undefined : errorSentence(error.code, strings)
}
