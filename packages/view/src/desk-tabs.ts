import type { DeskScope } from './desk-scope.ts'
import { holdLock, tabName } from './tab-lock.ts'
import type { TabChannel } from './view-platform.ts'

/** What a tab knows of the desks of the others. It owns the locks, and the session in which they share the desk. */
export class DeskTabs {
  readonly #scope: DeskScope
  #session: string | undefined
  #channel: TabChannel | undefined
  #heard = 0
  #isElsewhere = false
  /** Give back the locks of the sessions in which the desk of this tab is open. */
  readonly #releases = new Set<() => void>()

  constructor(scope: DeskScope) {
    this.#scope = scope
    scope.signal.addEventListener('abort', () => {
      this.#channel?.close()
      this.release()
    })
  }

  /** Whether the desk is open in another tab. */
  get isElsewhere(): boolean {
    return this.#isElsewhere
  }

  /** Counts what the other tabs have said about their desks. */
  get heard(): number {
    return this.#heard
  }

  /** Looks whether a desk is open in another tab. Resolves when that is known; its end is noticed later. */
  async look(): Promise<void> {
    const { views, signal } = this.#scope
    const isKnown = () => signal.aborted || this.#isElsewhere || this.#releases.size > 0
    if (isKnown() || !(await this.#isHeld()) || isKnown()) return
    this.#isElsewhere = true
    views.change({ desk: { isElsewhere: true, waitingSince: undefined, name: undefined, isTyping: false } })
    void this.#hold(signal).then(release => {
      release?.()
      if (signal.aborted) return
      this.#isElsewhere = false
      views.change({ desk: undefined })
    })
  }

  /** Waits until the desk may open in this tab. Resolves with false when the user leaves, or the signal is aborted before. */
  async acquire(limit = this.#scope.signal): Promise<boolean> {
    const lock = this.#lock
    const release = await this.#hold(limit)
    const isOver = !release || this.#scope.signal.aborted
    if (!isOver && lock === this.#lock) this.#releases.add(release)
    else release?.()
    // The conversation may have moved to another session.
    return !isOver && (lock === this.#lock || this.acquire(limit))
  }

  /** The desk of this tab has closed. */
  release(): void {
    for (const release of this.#releases) release()
    this.#releases.clear()
  }

  /** The other tabs leave the last escalation to this one. */
  announce(): void {
    this.#channel?.postMessage('desk')
  }

  /** The conversation may be in another session: what is shared and stored goes with it. */
  async follow(): Promise<void> {
    const { agent, platform, record, signal } = this.#scope
    const next = agent.getSessionId() ?? undefined
    if (next === this.#session || next === undefined) return
    this.#session = next
    this.#channel?.close()
    this.#channel = platform.createChannel?.(this.#lock)
    if (this.#channel)
      this.#channel.onmessage = () => {
        this.#heard++
        void this.look()
      }
    record.save()
    if (this.#releases.size === 0) return this.look()
    const release = await this.#hold(signal)
    if (release && this.#releases.size > 0) this.#releases.add(release)
    else release?.()
    this.announce()
  }

  get #lock(): string {
    return tabName('desk', this.#session ?? '')
  }

  async #isHeld(): Promise<boolean> {
    const { held = [] } = (await this.#scope.platform.locks?.query().catch(() => undefined)) ?? {}
    return held.some(({ name }) => name === this.#lock)
  }

  /** Waits for the lock. Resolves with undefined when the signal is aborted before. */
  #hold(signal: AbortSignal): Promise<(() => void) | undefined> {
    return holdLock(this.#scope.platform.locks, this.#lock, signal)
  }
}
