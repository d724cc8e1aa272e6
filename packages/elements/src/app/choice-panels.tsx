/** @jsxImportSource preact */
import type { PendingChoice } from '@aiagent/client'
import type { ConversationChoice, ConversationError } from '@aiagent/view'
import { useState } from 'preact/hooks'
import { errorSentence } from '../strings/error-sentence.ts'
import { type ChatSettings, shownByView } from './chat-settings.ts'
import { Icon } from './icons.tsx'
import { Panel } from './panels.tsx'
import { blockedText, useSignIn } from './use-sign-in.ts'

export { CHOICE_STYLE as STYLE } from '../style/choice-style.ts'

export interface ChoiceProps {
  settings: ChatSettings
  gate: PendingChoice | undefined
  /** Why the last choice or sign-in failed. */
  error: ConversationError | undefined
}

/** Number of choices from which they can be filtered. */
const MANY = 8

/** What the user chooses, or the sign-in where there is no choice. */
export function ChoicePanel({ gate, ...props }: ChoiceProps) {
  return gate ? <GatePanel {...props} gate={gate} /> : <LoginPanel {...props} gate={gate} />
}

/** Asks the user for a portal, an agent or a profile. */
function GatePanel({ settings, gate, error }: ChoiceProps & { gate: PendingChoice }) {
  const { strings, view } = settings
  const [filter, setFilter] = useState('')
  const [chosen, setChosen] = useState<unknown>()
  const title = {
    portal: strings.choosePortal,
    agent: strings.chooseAgent,
    profile: strings.chooseProfile,
  }[gate.gate]
  const all = (gate.choices as readonly ConversationChoice[]).map(describe)
  const wanted = filter.trim().toLocaleLowerCase(strings.language)
  const shown = all.filter(({ name, description }) =>
    `${name} ${description}`.toLocaleLowerCase(strings.language).includes(wanted),
  )
  const choose = (choice: ConversationChoice) => {
    if (chosen) return
    setChosen(choice)
    shownByView(view.select(choice).finally(() => setChosen(undefined)))
  }
  return (
    <Panel title={title}>
      <Problem text={error && !chosen ? errorSentence(error.code, strings) : undefined} />
      {all.length > MANY && (
        <input
          class="field"
          type="search"
          aria-label={strings.filter}
          placeholder={strings.filter}
          value={filter}
          onInput={event => setFilter(event.currentTarget.value)}
        />
      )}
      {shown.length === 0 && <p class="panel-text">{strings.noMatch}</p>}
      <ul class="choices">
        {shown.map(({ id, name, description, isLastUsed, choice }) => (
          <li key={id}>
            <button
              type="button"
              class="choice"
              part="choice"
              aria-disabled={chosen ? true : undefined}
              onClick={() => choose(choice)}
            >
              <span class="choice-text">
                <b>{name}</b>
                {description && <span>{description}</span>}
              </span>
              {isLastUsed && <span class="mark">{strings.lastUsed}</span>}
              {chosen === choice ? <span class="spinner small" /> : <Icon name="next" turns />}
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function describe(choice: ConversationChoice) {
  const id = String('agentId' in choice ? choice.agentId : choice.id)
  return {
    id,
    choice,
    name: choice.name || id,
    description: ('description' in choice && choice.description) || '',
    isLastUsed: 'isLastUsedInPortal' in choice && choice.isLastUsedInPortal === true,
  }
}

/** Asks the user to sign in. */
function LoginPanel({ settings, error }: ChoiceProps) {
  const { strings } = settings
  const { isRunning, isCancelled, waitingText, open, cancel } = useSignIn(settings)
  // The user has ended it, where nothing but another sign-in helps.
  const failure = error && error.remedy !== 'login' ? errorSentence(error.code, strings) : undefined
  const problem = isRunning || isCancelled ? undefined : (blockedText(error, strings) ?? failure)
  return (
    <Panel
      icon="lock"
      title={strings.loginTitle}
      text={isRunning ? (waitingText ?? strings.connecting) : problem ? undefined : strings.loginText}
    >
      <Problem text={problem} />
      <div class="panel-actions">
        <button type="button" class="button primary" part="button primary-button" onClick={open}>
          {waitingText && !settings.leavesToSignIn ? strings.loginAgain : problem ? strings.retryStart : strings.login}
        </button>
        {waitingText && (
          <button type="button" class="button plain" part="button" onClick={cancel}>
            {strings.loginCancel}
          </button>
        )}
      </div>
    </Panel>
  )
}

/** Why the last try of the user failed. */
function Problem({ text }: { text: string | undefined }) {
  return text ? (
    <p class="panel-text trouble" role="alert">
      {text}
    </p>
  ) : null
}
