/** @jsxImportSource solid-js */
import { createConversation } from '@aiagent/adapters/solid'
import type { ConversationMessage, ConversationView } from '@aiagent/view'
import { createMemo, For, onCleanup, onMount, Show } from 'solid-js'

/** An action of the view that fails sets `error` of the snapshot. */
const run = (action: Promise<unknown>) => void action.catch(() => {})

// #region chat
export function Chat(props: { view: ConversationView }) {
  const { view } = props
  const snapshot = createConversation(view)
  const connection = createMemo(() => snapshot().connection)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    run(view.send())
  }
  onMount(() => run(view.start()))
  onCleanup(() => void view.leave())
  // #endregion
  return (
    <>
      <Show when={connection().state !== 'connected' || connection().isOffline}>
        <p role="status">
          {connection().isOffline ? 'You are offline.' : `Chat is ${connection().state} …`}{' '}
          <Show when={connection().remedy === 'retry'}>
            <button type="button" onClick={() => run(view.retry())}>
              Try again
            </button>
          </Show>
        </p>
      </Show>
      <div class="scroll">
        <ol>
          <For each={snapshot().messages}>{message => <Message view={view} message={message} />}</For>
          <Show when={snapshot().isWorking}>
            <li class="working">The agent is writing …</li>
          </Show>
        </ol>
      </div>
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          required
          value={snapshot().draft}
          onInput={event => view.setDraft(event.currentTarget.value)}
        />
        <button type="submit">Send</button>
      </form>
    </>
  )
}

/** A message that has changed is another object, and gets new elements. */
function Message({ view, message }: { view: ConversationView; message: ConversationMessage }) {
  const { id, author, content, delivery, sources, options, chosenOption, canChoose, canRate, rating } = message
  return (
    <li class={author} data-delivery={delivery}>
      <p>{content}</p>
      <For each={sources}>{({ title, url }) => <a href={url}>{title}</a>}</For>
      <For each={options}>
        {option => (
          <button
            type="button"
            aria-pressed={option === chosenOption}
            disabled={!canChoose}
            onClick={() => run(view.choose(id, option))}
          >
            {option}
          </button>
        )}
      </For>
      <Show when={canRate}>
        <button type="button" class="rating" aria-pressed={rating === 'up'} onClick={() => run(view.rate(id, 'up'))}>
          Helpful
        </button>
      </Show>
    </li>
  )
}
