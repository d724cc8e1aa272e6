import { useState } from 'preact/hooks'
import type { Conversation } from '../conversation/conversation.ts'
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
] as const

/** Everything that happens underneath the conversation. */
export function Inspector({ conversation }: { conversation: Conversation }) {
  const [tab, setTab] = useState<(typeof TABS)[number][0]>('events')
  const counts = useStore(conversation.journal.store, state =>
    [state.events, state.requests, state.frames.filter(({ direction }) => direction !== 'socket'), state.deliveries]
      .map(({ length }) => length)
      .join(),
  ).split(',')
  const Panel = TABS.find(([name]) => name === tab)?.[2] ?? EventsPanel
  return (
    <section class="inspector" aria-label="Inspector">
      <StatusBar conversation={conversation} />
      <Timeline conversation={conversation} />
      <div class="tabs">
        <div role="tablist">
          {TABS.map(([name, label], index) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={tab === name}
              aria-controls="panel"
              onClick={() => setTab(name)}
            >
              {label}
              {index < counts.length && <span class="count">{counts[index]}</span>}
            </button>
          ))}
        </div>
        <SaveButton conversation={conversation} />
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel conversation={conversation} />
      </div>
    </section>
  )
}

/** Saves the recording of the agent, which `aiagent replay` plays. */
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
    <button type="button" class="save" onClick={save} title="Saves a recording for: aiagent replay trace.json">
      Save
    </button>
  )
}
