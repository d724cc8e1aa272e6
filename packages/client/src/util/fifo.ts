/** How many empty places a list has at least before it is cut. */
const LEAST_CUT = 1_000

/** A queue whose front is removed without moving the rest. */
export class Fifo<Item> {
  /** From `#first` on; earlier places are empty. */
  #items: (Item | undefined)[] = []
  #first = 0

  /** How many items wait. */
  get size(): number {
    return this.#items.length - this.#first
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Removes the oldest item. */
  shift(): Item | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#first]
    this.#items[this.#first++] = undefined
    if (this.#first > LEAST_CUT && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}
