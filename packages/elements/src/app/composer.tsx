/** @jsxImportSource preact */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type ChatSettings, shownByView } from './chat-settings.ts'
import { excessOf, remainingOf } from './composer-limit.ts'
import { Icon } from './icons.tsx'

/** Pause after which the draft is stored, in milliseconds. */
const DRAFT_MS = 250

/** The text field. It is not controlled: typing renders nothing but the button. */
export function Composer({ settings, draft }: { settings: ChatSettings; draft: string }) {
  const { strings, view } = settings
  const field = useRef<HTMLTextAreaElement>(null)
  const [length, setLength] = useState(0)
  const store = useDraft(settings, field)
  const text = field.current?.value ?? ''
  const excess = excessOf(text)
  const remaining = excess > 0 ? 0 : remainingOf(text)
  const canSend = length > 0 && excess === 0
  const number = (value: number) => value.toLocaleString(strings.language)

  // A draft that comes back after a reload; never over what the user is writing.
  useLayoutEffect(() => {
    const area = field.current
    if (!area || area.value || !draft || store.wasWritten()) return
    area.value = draft
    grow(area)
    setLength(draft.trim().length)
  }, [draft])

  const changed = () => {
    const area = field.current as HTMLTextAreaElement
    // An empty field shows its hint as the chat is written, a text as its language is.
    area.dir = area.value ? 'auto' : settings.direction
    grow(area)
    setLength(area.value.trim().length)
    store.later()
  }
  const send = () => {
    const area = field.current
    if (!area || !canSend) return area?.focus()
    const written = area.value
    area.value = ''
    changed()
    store.now()
    area.focus()
    shownByView(
      view.send(written).catch(() => {
        // The message was refused: the user may shorten it, or wait.
        if (area.value) return
        area.value = written
        changed()
      }),
    )
  }
  return (
    <footer class="composer" part="composer">
      <slot name="composer">
        <form
          class={excess > 0 ? 'composer-box excess' : 'composer-box'}
          part="composer-box"
          onSubmit={event => {
            event.preventDefault()
            send()
          }}
        >
          <textarea
            ref={field}
            part="input"
            rows={1}
            dir={settings.direction}
            aria-label={strings.message}
            aria-describedby="composer-hint"
            aria-invalid={excess > 0 ? true : undefined}
            placeholder={strings.placeholder}
            enterkeyhint="send"
            onInput={changed}
            onKeyDown={event => {
              if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
              event.preventDefault()
              send()
            }}
          />
          <button type="submit" class="send" part="send" aria-label={strings.send} aria-disabled={!canSend}>
            <Icon name="send" />
          </button>
        </form>
      </slot>
      <p
        id="composer-hint"
        class={excess > 0 ? 'composer-hint trouble' : 'composer-hint'}
        role={excess > 0 ? 'alert' : undefined}
        hidden={excess === 0 && remaining === undefined}
      >
        {excess > 0 ? strings.tooLong(number(excess)) : remaining !== undefined && strings.remaining(number(remaining))}
      </p>
    </footer>
  )
}

/** Stores the text as the draft: after a pause, and when the page is left. */
function useDraft({ view }: ChatSettings, field: { current: HTMLTextAreaElement | null }) {
  const state = useRef<{ timer: ReturnType<typeof setTimeout> | undefined; wasWritten: boolean }>({
    timer: undefined,
    wasWritten: false,
  })
  const now = () => {
    clearTimeout(state.current.timer)
    if (state.current.timer === undefined) return
    state.current.timer = undefined
    view.setDraft(field.current?.value ?? '')
  }
  useEffect(() => {
    document.addEventListener('visibilitychange', now)
    globalThis.addEventListener('pagehide', now)
    return () => {
      document.removeEventListener('visibilitychange', now)
      globalThis.removeEventListener('pagehide', now)
      now()
    }
  }, [view])
  return {
    now,
    wasWritten: () => state.current.wasWritten,
    later() {
      state.current.wasWritten = true
      clearTimeout(state.current.timer)
      state.current.timer = setTimeout(now, DRAFT_MS)
    },
  }
}

/** Lets the field grow with its text, where CSS cannot. */
function grow(area: HTMLTextAreaElement): void {
  if (CSS.supports('field-sizing', 'content')) return
  area.style.blockSize = 'auto'
  area.style.blockSize = `${area.scrollHeight}px`
}
