import { useState } from 'preact/hooks'
import type { Conversation } from '../conversation/conversation.ts'
import { redactData } from '../journal/redact.ts'
import { useStore } from '../store.ts'
import { Empty } from '../ui/empty.tsx'

/** The context of the conversation, and a form that sets an attribute. */
export function ContextPanel({ conversation: { agent, journal } }: { conversation: Conversation }) {
  useStore(journal.store, state => state.events)
  const [, render] = useState({})
  const [problem, setProblem] = useState('')
  const context = Object.entries(agent.getContext() ?? {})

  const apply = async (work: () => Promise<void>) => {
    try {
      await work()
      setProblem('')
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
    render({})
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const data = new FormData(form)
    const attributes = { [String(data.get('name'))]: parsed(String(data.get('value'))) }
    void apply(async () => {
      await agent.setContext(attributes, { sendImmediately: data.has('now') })
      form.reset()
    })
  }
  return (
    <div class="rows context">
      <form class="context-form" onSubmit={submit}>
        <label>
          Name <input name="name" required autocomplete="off" placeholder="plan" />
        </label>
        <label>
          Value <input name="value" required autocomplete="off" placeholder={'gold, 12 or { "value": "gold" }'} />
        </label>
        <label class="check">
          <input type="checkbox" name="now" defaultChecked /> send to the present session
        </label>
        <button type="submit">Set</button>
        <button type="button" onClick={() => void apply(() => agent.removeContext())} disabled={context.length === 0}>
          Remove all
        </button>
      </form>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {context.length === 0 ? (
        <Empty text="The context is empty. It is sent with the next session, or at once." />
      ) : (
        <table>
          <tbody>
            {context.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>
                  <code>{JSON.stringify(redactData(value, name))}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}

/** JSON where it is some, otherwise the text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
