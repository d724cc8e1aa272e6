import type { ConversationError } from '@aiagent/view'
import { useEffect, useState } from 'preact/hooks'
import type { ChatStrings } from '../strings/chat-strings.ts'
import type { ChatSettings } from './chat-settings.ts'

/** How long a window may take to open, or to be blocked, before the user is sent to it, in milliseconds. */
const OPENS_MS = 1000

/** How long the user is taken to be in the window, in milliseconds: a page cannot always know that it was closed. */
const SURE_MS = 10_000

/** The sign-in that the user begins with a button. */
export interface SignIn {
  /** Whether it has begun, and not ended. */
  readonly isRunning: boolean
  /** Whether the user has cancelled the last one. */
  readonly isCancelled: boolean
  /** Where the user goes on, once a window has opened. */
  readonly waitingText: string | undefined
  /** Opens the window, also again; call it within a click. */
  open(): void
  cancel(): void
}

export function useSignIn({ strings, view, announcer, leavesToSignIn }: ChatSettings): SignIn {
  /** Ends the sign-in in progress. */
  const [waiting, setWaiting] = useState<AbortController>()
  const [waitingText, setText] = useState<string>()
  const [isCancelled, setCancelled] = useState(false)
  useEffect(() => {
    if (!waiting) return setText(undefined)
    const tell = (sentence: string) => {
      setText(sentence)
      announcer.say(sentence)
    }
    // Where it is opened again, the user knows the window.
    const timers = leavesToSignIn
      ? [setTimeout(setText, OPENS_MS, strings.connecting)]
      : [
          setTimeout(tell, waitingText ? 0 : OPENS_MS, strings.loginWaiting),
          setTimeout(tell, OPENS_MS + SURE_MS, strings.loginUnsure),
        ]
    return () => timers.forEach(clearTimeout)
  }, [waiting])
  return {
    isRunning: waiting !== undefined,
    isCancelled,
    waitingText,
    open() {
      const own = new AbortController()
      setWaiting(own)
      setCancelled(false)
      const end = () => setWaiting(at => (at === own ? undefined : at))
      view.login(own).then(end, end)
    },
    cancel() {
      setCancelled(true)
      waiting?.abort()
    },
  }
}

/** Says that the browser has blocked the window of the last sign-in, and what helps. */
export function blockedText(error: ConversationError | undefined, strings: ChatStrings): string | undefined {
  return Object(error?.error).reason === 'popup_blocked' ? strings.loginBlocked : undefined
}
