/** An item of a {@link LinkedList}, which writes these fields. */
export interface Linked<Item extends Linked<Item>> {
  /** The list that it is in. */
  list?: LinkedList<Item> | undefined
  /** Its neighbours there. */
  previous?: Item | undefined
  next?: Item | undefined
}

/**
 * Items in the order of their addition, each of them in one list at most.
 *
 * Not a `Set`: finding the first item of a set takes as long as the number of items that were deleted before it.
 */
export class LinkedList<Item extends Linked<Item>> {
  /** The item that was added first. */
  first: Item | undefined
  #last: Item | undefined
  /** Number of items. */
  size = 0

  /** Appends an item, and removes it from the list that it was in. */
  add(item: Item): void {
    item.list?.delete(item)
    item.list = this
    item.previous = this.#last
    if (this.#last) this.#last.next = item
    else this.first = item
    this.#last = item
    this.size++
  }

  /** Removes an item of this list. */
  delete(item: Item): void {
    const { previous, next } = item
    if (previous) previous.next = next
    else this.first = next
    if (next) next.previous = previous
    else this.#last = previous
    item.list = item.previous = item.next = undefined
    this.size--
  }

  /** The items in order, for a copy: none may be added or deleted meanwhile. */
  *[Symbol.iterator](): Generator<Item, void> {
    for (let item = this.first; item; item = item.next) yield item
  }
}
