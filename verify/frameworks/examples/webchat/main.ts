import { createDirectLine } from '@aiagent/adapters/direct-line'
import { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { createStore, renderWebChat } from 'botframework-webchat'

const view = createConversationView(new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true }))
const root = document.getElementById('root') as HTMLElement
const status = document.querySelector('[role=status]') as HTMLElement

function render(): void {
  renderWebChat(
    {
      directLine: createDirectLine(view),
      // A new conversation, as after a logout, gets a new store: WebChat never removes what it shows.
      store: createStore(),
      userID: 'user',
      locale: 'en-US',
      styleOptions: {
        // The service takes no files.
        hideUploadButton: true,
        // Messages wait for the network as long as WebChat lets them.
        sendTimeout: 300_000,
        // Thumbs stand beside the time, so each message has its own.
        groupTimestamp: -1,
        bubbleBorderRadius: 12,
        bubbleFromUserBorderRadius: 12,
        bubbleFromUserBackground: '#1d4ed8',
        bubbleFromUserTextColor: '#fff',
      },
    },
    root,
  )
}

// WebChat shows no outage: it takes messages all the time. It gives up when the chat has ended.
view.subscribe(() => {
  const { state, isOffline, remedy } = view.getSnapshot().connection
  status.hidden = state === 'connected' && !isOffline
  status.textContent = isOffline ? 'You are offline.' : `Chat is ${state} …`
  if (remedy !== 'retry') return
  const again = document.createElement('button')
  again.textContent = 'Try again'
  again.onclick = () => view.retry().then(render, () => {})
  status.append(' ', again)
})
render()
view.start().catch(() => {})
