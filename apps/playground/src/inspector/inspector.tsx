import { useState } from 'preact/hooks'
import type { Conversation } from '../conversation/conversation.ts'
import { DeskTab } from '../desk/desk-tab.tsx'
import { useStore } from '../store.ts'
import { ContextPanel } from './context-panel.tsx'
import { DeliveryPanel } from './delivery-panel.tsx'
import { EventsPanel } from './events-panel.tsx'
import { FramesPanel } from './frames-panel.tsx'
import { RequestsPanel } from './requests-panel.tsx'
import { StatusBar } from './status-bar.tsx'
import { Timeline } from './timeline.tsx'
import { TranscriptPanel } from './transcript-panel.tsx'

const TABS = [
  ['events', 'Events', EventsPanel],
  ['requests', 'REST', RequestsPanel],
  ['frames', 'Frames', FramesPanel],
  ['delivery', 'Delivery', DeliveryPanel],
  ['transcript', 'Transcript', TranscriptPanel],
  ['context', 'Context', ContextPanel],
  ['desk', 'Desk', DeskTab],
] as const

/** Keys that lead to another tab: its index, from that of the present one. */
const KEYS: Readonly<Record<string, (index: number) => number>> = {
  ArrowLeft: index => index - 1,
  ArrowRight: index => index + 1,
  Home: () => 0,
  End: () => -1,
}

/** Everything that happens underneath the conversation. */
export function Inspector({ conversation }: { conversation: Conversation }) {
  const [tab, setTab] = useState<(typeof TABS)[number][0]>('events')
  const counts = useStore(conversation.journal.store, state =>
    [state.events, state.requests, state.frames.filter(({ direction }) => direction !== 'socket'), state.deliveries]
      .map(({ length }) => length)
      .join(),
  ).split(',')
  const isAtDesk = useStore(conversation.facts, facts => facts.isAtDesk)
  const move = (event: KeyboardEvent) => {
    const next = TABS.at((KEYS[event.key]?.(TABS.findIndex(([name]) => name === tab)) ?? Number.NaN) % TABS.length)
    if (!KEYS[event.key] || !next) return
    event.preventDefault()
    setTab(next[0])
    document.getElementById(`tab-${next[0]}`)?.focus()
  }
  const Panel = TABS.find(([name]) => name === tab)?.[2] ?? EventsPanel
  return (
    <section class="inspector" aria-label="Inspector">
      <StatusBar conversation={conversation} />
      <Timeline conversation={conversation} />
      <div class="tabs">
        <div role="tablist" aria-label="Inspector" onKeyDown={move}>
          {TABS.map(([name, label], index) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={tab === name}
              tabIndex={tab === name ? 0 : -1}
              aria-controls="panel"
              onClick={() => setTab(name)}
            >
              {label} {index < counts.length && <span class="count">{counts[index]}</span>}
              {name === 'desk' && isAtDesk && <span class="count count-open">open</span>}
            </button>
          ))}
        </div>
        <div class="tab-actions">
          <button type="button" class="quiet" onClick={() => conversation.journal.clear()}>
            Clear
          </button>
          <SaveButton conversation={conversation} />
        </div>
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel conversation={conversation} />
      </div>
    </section>
  )
}

/** Saves the recording of the agent, with the texts of the conversation, which `aiagent replay` plays. */
function SaveButton({ conversation: { recorder } }: { conversation: Conversation }) {
  const save = () => {
    const trace = new Blob([JSON.stringify(recorder.exportTrace(), null, 2)], { type: 'application/json' })
    const link = document.createElement('a')
    link.href = URL.createObjectURL(trace)
    link.download = 'trace.json'
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <button
      type="button"
      class="quiet"
      onClick={save}
      title="Saves a recording, which contains the texts of the conversation, for: aiagent replay trace.json"
    >
      Save with texts
    </button>
  )
}
