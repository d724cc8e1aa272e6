import type { AiAgent } from '../index.ts'
import type { MessageNotes } from './message-list.ts'

/** What a view stores with the session, so that it comes back after a reload. */
export interface StoredNotes extends MessageNotes {
  /** The draft, masked. */
  readonly draft: string
}

/** Stores notes with the session of an agent that has `resume`. One write at a time; the newest notes win. */
export class SessionNotes {
  readonly #agent: Pick<AiAgent, 'getSessionData' | 'setSessionData'>
  #next: StoredNotes | undefined
  #work: Promise<unknown> | undefined

  constructor(agent: Pick<AiAgent, 'getSessionData' | 'setSessionData'>) {
    this.#agent = agent
  }

  /** The stored notes, where there are any. */
  async load(): Promise<Partial<StoredNotes> | undefined> {
    const loading = this.#agent.getSessionData()
    // What is saved meanwhile must not replace what has not been read.
    this.#work = loading
    const notes = await loading.catch(() => undefined)
    this.#proceed()
    return notes as Partial<StoredNotes> | undefined
  }

  save(notes: StoredNotes): void {
    this.#next = notes
    if (!this.#work) this.#proceed()
  }

  /** Saves nothing of what waits. */
  stop(): void {
    this.#next = undefined
  }

  #proceed(): void {
    const notes = this.#next
    this.#next = undefined
    const done = () => this.#proceed()
    this.#work = notes && this.#agent.setSessionData(notes).then(done, done)
  }
}
