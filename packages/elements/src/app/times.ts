import { useMemo } from 'preact/hooks'
import type { ChatStrings } from '../strings/chat-strings.ts'

const DAY_MS = 86_400_000

/** Times and dates in a language. */
export interface Times {
  /** Time of the day. */
  time(at: number): string
  /** The day: today, yesterday, or its date. */
  day(at: number): string
  /** Whether two times are of the same day. */
  isSameDay(one: number, other: number): boolean
}

/** Formats by language and kind: to create one takes milliseconds. */
const formats = new Map<string, Intl.DateTimeFormat>()

const TIME: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit' }
const DATE: Intl.DateTimeFormatOptions = { weekday: 'long', day: 'numeric', month: 'long' }

function format(at: number, language: string, options: Intl.DateTimeFormatOptions): string {
  const key = `${language} ${options.hour}`
  let found = formats.get(key)
  if (!found) formats.set(key, (found = new Intl.DateTimeFormat(language, options)))
  return found.format(at)
}

/** Keeps the place of a time that is not known yet. */
const BLANK = '\u00a0'

/**
 * Times in a language. Blank while the chat opens: to create its first format, a browser takes as long as to render the messages,
 * which need not wait for it.
 *
 * @param isOpening whether the first messages are about to be painted
 */
export function useTimes(strings: ChatStrings, isOpening: boolean): Times {
  const isReady = !isOpening || formats.size > 0
  return useMemo(() => createTimes(strings, isReady), [strings, isReady])
}

function createTimes({ language, today, yesterday }: ChatStrings, isReady: boolean): Times {
  const text = (at: number, options: Intl.DateTimeFormatOptions) => (isReady ? format(at, language, options) : BLANK)
  const isSameDay = (one: number, other: number) => startOfDay(one) === startOfDay(other)
  return {
    isSameDay,
    time: at => text(at, TIME),
    day(at) {
      const now = Date.now()
      if (isSameDay(at, now)) return today
      return isSameDay(at, startOfDay(now) - DAY_MS / 2) ? yesterday : text(at, DATE)
    },
  }
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0)
}
