/** @jsxImportSource solid-js */
import { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { createSignal, Show } from 'solid-js'
import { render } from 'solid-js/web'
import { Chat } from './chat.tsx'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })
const view = createConversationView(agent)

function App() {
  const [isOpen, setOpen] = createSignal(true)
  return (
    <>
      <button type="button" class="toggle" aria-expanded={isOpen()} onClick={() => setOpen(!isOpen())}>
        Chat
      </button>
      <Show when={isOpen()}>
        <Chat view={view} />
      </Show>
    </>
  )
}

render(App, document.getElementById('root') as HTMLElement)
