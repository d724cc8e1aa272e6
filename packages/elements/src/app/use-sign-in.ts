import type { ConversationError } from '@aiagent/view'
import { useEffect, useState } from 'preact/hooks'
import type { ChatStrings } from '../strings/chat-strings.ts'
import type { ChatSettings } from './chat-settings.ts'

/** Delay before the chat mentions the sign-in window, in milliseconds: by then a blocked window is usually known. */
const OPENS_MS = 1000

/** How long the chat assumes that the window is still open, in milliseconds: a page cannot always detect that it was closed. */
const SURE_MS = 10_000

/** The sign-in that the user starts with a button. */
export interface SignIn {
  /** Whether it is in progress. */
  readonly isRunning: boolean
  /** Whether the user has cancelled the last one. */
  readonly isCancelled: boolean
  /** Says where the user can continue, once a window has opened. */
  readonly waitingText: string | undefined
  /** Opens the window, or opens it again. Call it in the handler of a click. */
  open(): void
  cancel(): void
}

export function useSignIn({ strings, view, announcer, leavesToSignIn }: ChatSettings): SignIn {
  /** Ends the sign-in in progress. */
  const [waiting, setWaiting] = useState<AbortController>()
  /** Where the user can continue, as the name of a text: the language may change meanwhile. */
  const [place, setPlace] = useState<'connecting' | 'loginWaiting' | 'loginUnsure'>()
  const [isCancelled, setCancelled] = useState(false)
  useEffect(() => {
    if (!waiting) return setPlace(undefined)
    const announce = (name: 'loginWaiting' | 'loginUnsure') => {
      setPlace(name)
      announcer.say(strings[name])
    }
    // If the window is opened again, the user already knows about it.
    const timers = leavesToSignIn
      ? [setTimeout(setPlace, OPENS_MS, 'connecting')]
      : [
          setTimeout(announce, place ? 0 : OPENS_MS, 'loginWaiting'),
          setTimeout(announce, OPENS_MS + SURE_MS, 'loginUnsure'),
        ]
    return () => timers.forEach(clearTimeout)
  }, [waiting])
  return {
    isRunning: waiting !== undefined,
    isCancelled,
    waitingText: place && strings[place],
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
