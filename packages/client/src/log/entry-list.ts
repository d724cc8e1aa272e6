/** The list of every empty transcript. */
const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([])

/** An entry to insert. */
export interface PlacedEntry<Entry> {
  readonly entry: Entry
  /** Length of its frame's text, in characters. */
  readonly size: number
  /** Index of the entry before which it belongs. */
  readonly position: number
}

/** Entries in order, with the lengths of their frames. */
export class EntryList<Entry> {
  /** Entries from `#first` on; earlier elements are empty and removed from time to time. */
  #entries: (Entry | undefined)[] = []
  /** Lengths of the frames of `#entries`. */
  #sizes: number[] = []
  #first = 0
  /** Sum of the lengths from `#first` on. */
  #length = 0
  #snapshot: readonly Entry[] | undefined

  get size(): number {
    return this.#entries.length - this.#first
  }

  /** The entries; the same frozen list until something changes. */
  get(): readonly Entry[] {
    this.#snapshot ??= this.size === 0 ? NONE : Object.freeze(this.#entries.slice(this.#first) as Entry[])
    return this.#snapshot
  }

  push(entry: Entry, size: number): void {
    this.#entries.push(entry)
    this.#sizes.push(size)
    this.#length += size
    this.#snapshot = undefined
  }

  /** Inserts entries, each before the one at its position; positions must not decrease. */
  insert(added: readonly PlacedEntry<Entry>[]): void {
    this.#compact()
    // From the last to the first, so that the positions stay right.
    for (let i = added.length - 1; i >= 0; i--) {
      const { entry, size, position } = added[i] as PlacedEntry<Entry>
      this.#entries.splice(position, 0, entry)
      this.#sizes.splice(position, 0, size)
      this.#length += size
    }
    this.#snapshot = undefined
  }

  /** Removes the oldest entries beyond the limits, and returns their number. */
  trim(maxEntries: number, maxLength: number): number {
    let removed = 0
    for (; this.size > 0 && (this.size > maxEntries || this.#length > maxLength); removed++) {
      this.#length -= this.#sizes[this.#first] ?? 0
      this.#entries[this.#first++] = undefined
    }
    if (removed === 0) return 0
    this.#snapshot = undefined
    // Shifting the array for each entry is slow: it is cut when more than half is empty.
    if (this.#first * 2 > this.#entries.length) this.#compact()
    return removed
  }

  clear(): void {
    this.#entries = []
    this.#sizes = []
    this.#first = 0
    this.#length = 0
    this.#snapshot = undefined
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#first)
    this.#sizes = this.#sizes.slice(this.#first)
    this.#first = 0
  }
}
