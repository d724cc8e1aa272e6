// A page with a chat: it sends what the user types, shows the answers, and continues after a reload. `browser-page.ts` runs it.
import { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { showMessages } from './show-content.ts'

const log = document.createElement('main')
const form = document.createElement('form')
const input = document.createElement('input')
input.ariaLabel = 'Message'
form.append(input)
document.body.append(log, form)

const endpoint = new URL(location.href).searchParams.get('endpoint') ?? ''
const agent = new AiAgent({ id: 'help', endpoint, resume: true })
const view = createConversationView(agent)
showMessages(view, log)
form.addEventListener('submit', event => {
  event.preventDefault()
  // A message that cannot be sent is `view.getSnapshot().error`.
  view.send(input.value).then(
    () => form.reset(),
    () => {},
  )
})
await view.start()
