import { useState } from 'preact/hooks'
import { FRAME_TEMPLATES } from './fault-actions.ts'
import type { FaultDesk } from './fault-desk.ts'

const NAMES = Object.keys(FRAME_TEMPLATES)
const textOf = (name: string | undefined) => JSON.stringify(FRAME_TEMPLATES[name ?? ''], null, 2)

/** Pushes a frame of the service, or applies any other fault, written as JSON. */
export function FrameEditor({ desk }: { desk: FaultDesk }) {
  const [text, setText] = useState(() => textOf(NAMES[0]))
  return (
    <fieldset class="frame-editor">
      <legend>Push a frame</legend>
      <select aria-label="Frame" onChange={event => setText(textOf(event.currentTarget.value))}>
        {NAMES.map(name => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <textarea
        aria-label="Fault as JSON"
        rows={9}
        spellcheck={false}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
      <button type="button" onClick={() => void desk.runText(text)}>
        Push
      </button>
    </fieldset>
  )
}
