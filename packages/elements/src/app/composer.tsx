/** @jsxImportSource preact */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type ChatSettings, shownByView } from './chat-settings.ts'
import { excessOf, remainingOf } from './composer-limit.ts'
import { Icon } from './icons.tsx'

/** Pause after which the draft is stored, in milliseconds. */
const DRAFT_MS = 250
/** Code of the Enter key. One that an input method takes has another code, in Safari also the one that ends a composition. */
const ENTER = 13

/** Keys that change the meaning of another one. */
const MODIFIERS = ['Shift', 'Control', 'Alt', 'Meta'] as const

/** Keyboards and what a browser may fill in, by the type of input that a workflow expects. Others are texts. */
const INPUTS: Readonly<Record<string, { inputMode: 'email' | 'tel' | 'numeric' | 'url'; autoComplete?: string }>> = {
  email: { inputMode: 'email', autoComplete: 'email' },
  tel: { inputMode: 'tel', autoComplete: 'tel' },
  phone: { inputMode: 'tel', autoComplete: 'tel' },
  number: { inputMode: 'numeric' },
  url: { inputMode: 'url', autoComplete: 'url' },
}

interface ComposerProps {
  settings: ChatSettings
  draft: string
  /** Type of the input that the last message asks for. */
  inputType: string | undefined
  /** Whether the conversation has ended: the text stays, and is not sent. */
  isEnded: boolean
}

/** The text field. It is not controlled: typing renders nothing but the button. */
export function Composer({ settings, draft, inputType = '', isEnded }: ComposerProps) {
  const { strings, view, agent, announcer } = settings
  const field = useRef<HTMLTextAreaElement>(null)
  const [length, setLength] = useState(0)
  const store = useDraft(settings)
  /** What was sent last, which the arrow key brings back into the empty field. */
  const sent = useRef('')
  const text = field.current?.value ?? ''
  const excess = excessOf(text)
  const remaining = excess > 0 ? 0 : remainingOf(text)
  const canSend = length > 0 && excess === 0 && !isEnded
  /** Whether the user has tried to send something to a conversation that has ended. */
  const [isRefused, setRefused] = useState(false)
  useLayoutEffect(() => setRefused(false), [isEnded])
  const number = (value: number) => value.toLocaleString(strings.language)

  // A draft that comes back after a reload; never over what the user is writing.
  useLayoutEffect(() => {
    const area = field.current
    if (!area || area.value || !draft || store.wasWritten()) return
    area.value = draft
    show(area)
  }, [draft])

  const show = (area: HTMLTextAreaElement) => {
    // An empty field shows its hint as the chat is written, a text as its language is.
    area.dir = area.value ? 'auto' : settings.direction
    grow(area)
    setLength(area.value.trim().length)
  }
  const changed = () => {
    const area = field.current as HTMLTextAreaElement
    show(area)
    store.later(area.value)
  }
  // What a user was writing is not for the next one.
  useLayoutEffect(
    () =>
      agent.subscribe('phaseChanged', ({ payload }) => {
        const area = field.current
        if (payload.at !== 'leaving' || !area) return
        area.value = sent.current = ''
        store.forget()
        show(area)
      }),
    [agent],
  )
  const send = () => {
    const area = field.current
    if (isEnded && length > 0) {
      setRefused(true)
      announcer.say(strings.ended)
    }
    if (!area || !canSend) return area?.focus()
    const written = area.value
    const { departures } = store
    sent.current = written
    area.value = ''
    changed()
    store.now()
    area.focus()
    shownByView(
      view.send(written).catch(() => {
        // The message was refused: the user may shorten it, or wait. It is not for the next user.
        if (area.value || store.departures !== departures) return
        area.value = written
        changed()
      }),
    )
  }
  return (
    <div class="composer" part="composer">
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
            {...INPUTS[inputType.toLowerCase()]}
            onInput={changed}
            onKeyDown={event => {
              const area = event.currentTarget
              const isRecall = event.key === 'ArrowUp' && !MODIFIERS.some(key => event.getModifierState(key))
              if (isRecall && !area.value && sent.current && !event.isComposing) {
                event.preventDefault()
                area.value = sent.current
                changed()
              }
              if (event.keyCode !== ENTER || event.shiftKey || event.isComposing) return
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
        hidden={excess === 0 && remaining === undefined && !isRefused}
      >
        {isRefused
          ? strings.ended
          : excess > 0
            ? strings.tooLong(number(excess))
            : remaining !== undefined && strings.remaining(number(remaining))}
      </p>
    </div>
  )
}

/** Stores the text as the draft: after a pause, and when the page is left. */
function useDraft({ view }: ChatSettings) {
  const state = useRef<{ timer: ReturnType<typeof setTimeout> | undefined; text: string | undefined }>({
    timer: undefined,
    text: undefined,
  })
  const now = () => {
    const { timer, text = '' } = state.current
    clearTimeout(timer)
    if (timer === undefined) return
    state.current.timer = undefined
    view.setDraft(text)
  }
  // Layout effects end with the chat, before its view does; others end after the next frame.
  useLayoutEffect(() => {
    document.addEventListener('visibilitychange', now)
    globalThis.addEventListener('pagehide', now)
    return () => {
      document.removeEventListener('visibilitychange', now)
      globalThis.removeEventListener('pagehide', now)
      now()
    }
  }, [view])
  const departures = useRef(0)
  return {
    now,
    /** Number of users who have left. */
    get departures() {
      return departures.current
    },
    wasWritten: () => state.current.text !== undefined,
    later(text: string) {
      clearTimeout(state.current.timer)
      state.current = { text, timer: setTimeout(now, DRAFT_MS) }
    },
    forget() {
      departures.current++
      clearTimeout(state.current.timer)
      state.current = { text: undefined, timer: undefined }
    },
  }
}

/** Lets the field grow with its text, where CSS cannot. */
function grow(area: HTMLTextAreaElement): void {
  if (CSS.supports('field-sizing', 'content')) return
  area.style.blockSize = 'auto'
  area.style.blockSize = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`
}
