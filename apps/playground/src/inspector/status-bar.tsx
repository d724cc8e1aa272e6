import type { ExplanationCode } from '@aiagent/client'
import type { Conversation } from '../conversation/conversation.ts'
import type { Tone } from '../journal/journal.ts'
import { useStore } from '../store.ts'

const TONES: Readonly<Record<ExplanationCode, Tone>> = {
  not_initialized: 'idle',
  initialize_failed: 'bad',
  initialize_retry: 'warn',
  preparing: 'busy',
  login_needed: 'warn',
  choice_needed: 'warn',
  choice_loading: 'busy',
  not_connected: 'idle',
  connecting: 'busy',
  reconnecting: 'warn',
  offline: 'warn',
  token_needed: 'warn',
  connected: 'good',
  closed: 'bad',
  leaving: 'warn',
  destroyed: 'bad',
}

/** What the agent does or waits for at this moment, as `agent.explain()` says it. */
export function StatusBar({ conversation: { facts } }: { conversation: Conversation }) {
  const { explanation, queueSize } = useStore(facts, state => state)
  const code = explanation?.code ?? 'not_initialized'
  return (
    <div class="status" data-tone={TONES[code]}>
      <span class="dot" aria-hidden="true" />
      <div class="status-text">
        <p class="explanation" role="status">
          {explanation?.text ?? 'Loading …'}
        </p>
        <p class="status-facts">
          <code>explain()</code> <code>{code}</code>
        </p>
      </div>
      <div class="queue" title="agent.getQueueSize()" data-filled={queueSize > 0}>
        <b>{queueSize}</b> queued
      </div>
    </div>
  )
}
