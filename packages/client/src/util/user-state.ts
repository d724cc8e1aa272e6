/** State that belongs to the signed-in user. */
export interface UserState {
  /**
   * Discards it: the part in memory before this returns. Returns a promise if a stored part takes longer. Requests in
   * flight for this user have no effect afterwards.
   */
  forgetUser(): unknown
}

/**
 * Everything that belongs to the signed-in user. A part registers itself here when it is created. On logout, and when
 * the user changes, the lifecycle clears all of it.
 */
export class UserStateRegistry {
  #parts: readonly UserState[] = []

  /** Registers a part and returns it. */
  own<Part extends UserState>(part: Part): Part {
    // An array that grows by push() reserves sixteen more places.
    this.#parts = this.#parts.concat(part)
    return part
  }

  /**
   * Clears every part: memory before this returns.
   *
   * @param onError receives the error of a part whose stored data could not be removed
   * @returns a promise that is fulfilled when the stores are empty too; it never rejects
   */
  async forget(onError: (error: unknown) => void): Promise<void> {
    // All parts start at once; an async function turns a synchronous error into a rejection.
    const removals = this.#parts.map(async part => part.forgetUser())
    await Promise.all(removals.map(removal => removal.catch(onError)))
  }
}
