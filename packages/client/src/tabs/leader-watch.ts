/** Number of looks after which a tab posts a message, whose number shows the others whether they have missed an earlier one. */
const LOOKS_PER_HELLO = 5

/** A leader that has not answered so many times in a row is frozen. */
const MISSED_ANSWERS = 2

/** Whether the leader still answers, as a follower sees it that looks after it regularly. */
export class LeaderWatch {
  #looks = 0
  /** Looks in a row without a sign of the leader. */
  #missed = 0
  #hasHeard = false

  /** The leader has said something. */
  handleSign(): void {
    this.#hasHeard = true
  }

  /** Begins to count the missing answers. */
  reset(): void {
    this.#missed = 0
  }

  /** Looks once. Returns what to do: greet the others, or take the lock away from a frozen leader. */
  look(): 'greet' | 'take' | undefined {
    const hasHeard = this.#hasHeard
    this.#hasHeard = false
    this.#missed = hasHeard ? 0 : this.#missed + 1
    this.#looks++
    if (this.#missed <= MISSED_ANSWERS) return !hasHeard || this.#looks % LOOKS_PER_HELLO === 0 ? 'greet' : undefined
    this.#missed = 0
    return 'take'
  }
}
