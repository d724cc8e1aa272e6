import type { AiAgent } from '@aiagent/client'
import { isRating, type TextRange } from './conversation-message.ts'
import type { KeptFacts, MessageList } from './message-list.ts'

/** What is stored with the session beside the facts of the list. */
interface StoredParts {
  readonly draft: string
  /** As the live desk has written it. */
  readonly desk: unknown
  /** As the signals have written it. */
  readonly signals: unknown
  /** Id of the last message of the agent that the user has read; empty for none of them. */
  readonly readUpTo: string | undefined
}

/** Reading and writing of the data of each agent's session, one after the other: several views of one agent share it. */
const queues = new WeakMap<AiAgent, Promise<void>>()

/** What a view stores with the session of its agent. It owns what is not stored yet. */
export class SessionData {
  readonly #agent: AiAgent
  readonly #list: MessageList
  #unsaved: Partial<StoredParts> | undefined

  constructor(agent: AiAgent, list: MessageList) {
    this.#agent = agent
    this.#list = list
  }

  /** Stores ratings, masked parts, and what is given. */
  save(changes?: Partial<StoredParts>): void {
    this.#unsaved = { ...this.#unsaved, ...changes }
    this.#enqueue(stored => {
      if (!this.#unsaved) return
      const { draft, ...others } = { ...stored, ...this.#unsaved }
      const { isBlocked, content } = this.#agent.previewMasking(draft)
      // Without rules it stays in memory, until there are some.
      this.#unsaved = isBlocked && draft ? { draft } : undefined
      return this.#agent.setSessionData({ ...this.#list.kept(), ...others, draft: isBlocked ? '' : content })
    })
  }

  /** Stores what could not be stored before. */
  flush(): void {
    if (this.#unsaved) this.save()
  }

  /** Adds stored ratings and masked parts to the list, and passes the rest, unless the user has left until then. */
  read(use: (stored: StoredParts) => void): void {
    this.#enqueue(stored => {
      use(stored)
      const { draft } = stored
      // An earlier page may have stored it without these rules.
      const { isBlocked, content } = this.#agent.previewMasking(draft)
      if (draft && (isBlocked || content !== draft)) this.#unsaved ??= { draft }
      this.flush()
    })
  }

  /** Drops what is not stored yet: its user leaves. */
  drop(): void {
    this.#unsaved = undefined
  }

  /** Settles when what was to be read and stored so far is. */
  async settled(): Promise<void> {
    await queues.get(this.#agent)
  }

  #enqueue(work: (stored: StoredParts) => unknown): void {
    const agent = this.#agent
    const done = this.settled().then(async () => {
      const data = await agent.getSessionData()
      if (agent.getIsInitialized()) await work(this.#merge(data))
    })
    queues.set(
      agent,
      done.catch(error => agent.logger.warn('The data of a view could not be stored.', error)),
    )
  }

  /** Adds what was stored with the session, by this view, another one, or the page before. Returns the rest of it. */
  #merge(data: unknown): StoredParts {
    // Any page of any version may have stored it.
    const stored = Object(data) as Partial<Record<keyof StoredParts | keyof KeptFacts, unknown>>
    const { ratings, masked, draft, desk, readUpTo, signals } = stored
    const known = this.#list.kept()
    if (ratings || masked)
      this.#list.keep({
        ratings: { ...ratingsOf(ratings), ...known.ratings },
        masked: { ...frozenRanges(masked), ...known.masked },
      })
    return {
      draft: typeof draft === 'string' ? draft : '',
      readUpTo: typeof readUpTo === 'string' ? readUpTo : undefined,
      desk,
      signals,
    }
  }
}

/** Ratings as they were stored; nothing of another form. */
function ratingsOf(ratings: unknown): KeptFacts['ratings'] {
  return Object.fromEntries(Object.entries(Object(ratings) as object).filter(([, rating]) => isRating(rating)))
}

const isRange = (range: unknown): range is TextRange => {
  const { start, end } = Object(range) as Partial<TextRange>
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= Number(start) && Number(start) < Number(end)
}

/** Masked parts as they were stored, frozen; those of another form are left out. */
function frozenRanges(masked: unknown): KeptFacts['masked'] {
  const entries = Object.entries(Object(masked) as KeptFacts['masked'])
  return Object.fromEntries(
    entries.flatMap(([text, ranges]) =>
      Array.isArray(ranges) ? [[text, Object.freeze(ranges.filter(isRange).map(range => Object.freeze(range)))]] : [],
    ),
  )
}
