/** How long a text stays in the live region, in milliseconds: long enough to be noticed, short enough to be found once. */
const STAYS_MS = 2000

/** Longest text that is read unasked, in characters: minutes of speech. The conversation has all of it. */
const LONGEST = 10_000

/**
 * Says texts to screen readers. It owns a live region outside of the conversation, which is always there, since a region that is
 * inserted together with its text is often not read. The conversation itself is not live: it would be read again whenever it is
 * rendered.
 */
export interface Announcer {
  /** The region; belongs into the tree before the first text. */
  readonly region: HTMLElement
  say(text: string): void
  /** Removes all texts and timers. */
  clear(): void
}

export function createAnnouncer(): Announcer {
  const region = document.createElement('div')
  region.className = 'sr'
  region.setAttribute('aria-live', 'polite')
  const timers = new Set<ReturnType<typeof setTimeout>>()
  return {
    region,
    say(text) {
      if (!text) return
      const line = document.createElement('p')
      line.textContent = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
      region.append(line)
      const timer = setTimeout(() => {
        timers.delete(timer)
        line.remove()
      }, STAYS_MS)
      timers.add(timer)
    },
    clear() {
      for (const timer of timers) clearTimeout(timer)
      timers.clear()
      region.replaceChildren()
    },
  }
}
