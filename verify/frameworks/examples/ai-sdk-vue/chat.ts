import { Chat } from '@ai-sdk/vue'
import { createChatTransport, toChatMessage } from '@aiagent/adapters/ai-sdk'
import type { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { defineComponent, h, onUnmounted, ref, shallowRef } from 'vue'

/** A chat with the AI SDK. The view beside it has what a stream does not carry: connection, ratings, unasked messages. */
export const createChat = (agent: AiAgent) =>
  defineComponent(() => {
    const view = createConversationView(agent)
    const transport = createChatTransport(agent)
    const chat = new Chat({ transport })
    const snapshot = shallowRef(view.getSnapshot())
    const text = ref('')
    const update = () => {
      snapshot.value = view.getSnapshot()
      // Between the answers the messages are those of the view: in the order of the service, with history and ratings.
      if (chat.status !== 'submitted' && chat.status !== 'streaming')
        chat.messages = snapshot.value.messages.map(toChatMessage)
    }
    view.subscribe(update)
    view.start().catch(() => {})
    onUnmounted(() => {
      transport.close()
      void view.destroy()
    })

    const send = (message: string) => chat.sendMessage({ text: message }).finally(update)
    const submit = (event: Event) => {
      event.preventDefault()
      void send(text.value)
      text.value = ''
    }
    const button = (label: string, onClick: () => unknown, pressed: boolean, disabled = false, style = 'option') =>
      h('button', { type: 'button', class: style, onClick, disabled, 'aria-pressed': pressed }, label)

    /** What follows the text: sources, options, rating. */
    const extras = (part: (typeof chat.messages)[number]['parts'][number]) => {
      if (part.type === 'source-url') return h('a', { href: part.url }, part.title)
      if (part.type === 'data-options') {
        const { options, chosenOption, canChoose } = part.data as {
          options: string[]
          chosenOption?: string
          canChoose: boolean
        }
        return options.map(option => button(option, () => send(option), option === chosenOption, !canChoose))
      }
      if (part.type !== 'data-message') return undefined
      const { id, canRate } = part.data as { id: string; canRate: boolean }
      const { rating } = snapshot.value.messages.find(message => message.id === id) ?? {}
      return canRate && button('Helpful', () => view.rate(id, 'up').catch(() => {}), rating === 'up', false, 'rating')
    }
    return () => {
      const { connection, isWorking } = snapshot.value
      const { state, isOffline } = connection
      return [
        (state !== 'connected' || isOffline) &&
          h('p', { role: 'status' }, isOffline ? 'You are offline.' : `Chat is ${state} …`),
        h(
          'div',
          { class: 'scroll' },
          h('ol', [
            ...chat.messages.map(({ id, role, parts }) =>
              h('li', { key: id, class: role === 'user' ? 'user' : 'agent' }, [
                ...parts.flatMap(part => (part.type === 'text' ? [h('p', part.text)] : [extras(part)])),
              ]),
            ),
            isWorking && h('li', { class: 'working' }, 'The agent is writing …'),
          ]),
        ),
        h('form', { onSubmit: submit }, [
          h('input', {
            'aria-label': 'Message',
            required: true,
            value: text.value,
            onInput: (event: Event) => (text.value = (event.target as HTMLInputElement).value),
          }),
          h('button', { type: 'submit' }, 'Send'),
        ]),
      ]
    }
  })
