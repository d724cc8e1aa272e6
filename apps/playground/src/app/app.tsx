import { ChatPane } from '../conversation/chat-pane.tsx'
import { FaultPanel } from '../faults/fault-panel.tsx'
import { Inspector } from '../inspector/inspector.tsx'
import { useStore } from '../store.ts'
import { Header } from './header.tsx'
import type { Playground, Side } from './playground.ts'

const SIDES: readonly (readonly [Side, string])[] = [
  ['chat', 'Chat'],
  ['inspector', 'Inspector'],
  ['faults', 'Faults'],
]

/** The whole page. */
export function App({ playground }: { playground: Playground }) {
  const { conversation, faults, side } = useStore(playground.store, state => state)
  return (
    <div class="app" data-side={side}>
      <Header playground={playground} conversation={conversation} />
      <main class="columns">
        <ChatPane key={conversation} conversation={conversation} />
        <Inspector key={conversation} conversation={conversation} />
        <FaultPanel key={conversation} conversation={conversation} desk={faults} />
      </main>
      <nav class="sides" aria-label="Parts of the page">
        {SIDES.map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-current={side === name ? 'page' : undefined}
            onClick={() => playground.show(name)}
          >
            {label}
          </button>
        ))}
      </nav>
    </div>
  )
}
