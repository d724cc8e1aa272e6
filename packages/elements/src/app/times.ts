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

/** Formats by language: to create one takes longer than to render a page of messages. */
const formats = new Map<string, readonly [time: Intl.DateTimeFormat, date: Intl.DateTimeFormat]>()

function formatsOf(language: string): readonly [time: Intl.DateTimeFormat, date: Intl.DateTimeFormat] {
  let found = formats.get(language)
  if (!found) {
    found = [
      new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit' }),
      new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' }),
    ]
    formats.set(language, found)
  }
  return found
}

export function createTimes({ language, today, yesterday }: ChatStrings): Times {
  const [time, date] = formatsOf(language)
  const isSameDay = (one: number, other: number) => startOfDay(one) === startOfDay(other)
  return {
    isSameDay,
    time: at => time.format(at),
    day(at) {
      const now = Date.now()
      if (isSameDay(at, now)) return today
      return isSameDay(at, startOfDay(now) - DAY_MS / 2) ? yesterday : date.format(at)
    },
  }
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0)
}
