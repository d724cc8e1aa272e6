import { useState } from 'preact/hooks'
import type { Conversation } from '../conversation/conversation.ts'
import { useStore } from '../store.ts'
import { FAULT_GROUPS, type FaultAction } from './fault-actions.ts'
import type { FaultDesk } from './fault-desk.ts'
import { FrameEditor } from './frame-editor.tsx'

/** Buttons that break what the conversation depends on. */
export function FaultPanel({ conversation, desk }: { conversation: Conversation; desk: FaultDesk }) {
  const { active, problem } = useStore(desk.store, state => state)
  const { scenario, service } = conversation
  const [help, setHelp] = useState('')
  if (!service.controls)
    return (
      <section class="faults" aria-label="Faults">
        <h2>Faults</h2>
        <p class="empty">
          A deployment cannot be broken on request. Start the emulator for this: aiagent emulate --playground
        </p>
      </section>
    )
  return (
    <section class="faults" aria-label="Faults">
      <header class="faults-head">
        <h2>Break it</h2>
        <button type="button" class="quiet" disabled={active.length === 0} onClick={() => void desk.liftAll()}>
          Mend all
        </button>
      </header>
      <p class="fault-help">{help || 'What a button does stands here once it has the focus or the pointer.'}</p>
      {FAULT_GROUPS.map(({ title, actions }) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          <div class="fault-buttons">
            {actions.map(action => (
              <FaultButton
                key={action.id}
                action={action}
                isActive={active.includes(action.id)}
                desk={desk}
                onHelp={setHelp}
              />
            ))}
          </div>
        </fieldset>
      ))}
      {scenario.users.length > 0 && <UserChange users={scenario.users} desk={desk} />}
      <AnswerTime desk={desk} />
      <FrameEditor desk={desk} />
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

interface FaultButtonProps {
  action: FaultAction
  isActive: boolean
  desk: FaultDesk
  onHelp(text: string): void
}

function FaultButton({ action, isActive, desk, onHelp }: FaultButtonProps) {
  const { label, description, isLasting } = action
  const help = () => onHelp(description)
  return (
    <button
      type="button"
      class="fault"
      title={description}
      aria-pressed={isLasting ? isActive : undefined}
      onFocus={help}
      onPointerEnter={help}
      onClick={() => void desk.run(action)}
    >
      {label}
    </button>
  )
}

function UserChange({ users, desk }: { users: readonly string[]; desk: FaultDesk }) {
  return (
    <fieldset>
      <legend>Change the user</legend>
      <div class="fault-buttons">
        {users.map(user => (
          <button
            key={user}
            type="button"
            class="fault"
            title={`Continues with a token of ${user}. Everything of the previous user is removed.`}
            onClick={() => void desk.changeUser(user)}
          >
            {user}
          </button>
        ))}
      </div>
    </fieldset>
  )
}

/** The longest time that the slider offers, in milliseconds, unless the service takes longer already. */
const LONGEST_ANSWER_MS = 6000

function AnswerTime({ desk }: { desk: FaultDesk }) {
  const ms = useStore(desk.store, ({ answerMs }) => answerMs)
  return (
    <label class="answer-time">
      <span>Time for an answer</span>
      <input
        type="range"
        min="0"
        max={Math.max(LONGEST_ANSWER_MS, ms ?? 0)}
        step="100"
        value={ms ?? 0}
        disabled={ms === undefined}
        onChange={event => void desk.setAnswerTime(Number(event.currentTarget.value))}
      />
      <output>{ms !== undefined && `${(ms / 1000).toFixed(1)} s`}</output>
    </label>
  )
}
