/** State that belongs to the signed-in user. */
export interface UserState {
  /**
   * Discards it: the part in memory before this returns, the stored part before the returned promise is fulfilled.
   * Whatever is in flight for this user has no effect afterwards.
   */
  forgetUser(): void | PromiseLike<unknown>
}

/**
 * Everything that belongs to the signed-in user. A part registers itself here when it is created; on logout, and when the
 * user changes, the lifecycle empties all of it.
 */
export class UserStateRegistry {
  readonly #parts: UserState[] = []

  /** Registers a part and returns it. */
  own<Part extends UserState>(part: Part): Part {
    this.#parts.push(part)
    return part
  }

  /**
   * Empties every part: memory before this returns.
   *
   * @param onError receives the error of a part whose stored data could not be removed
   * @returns a promise that is fulfilled when the stores are empty too; it never rejects
   */
  async forget(onError: (error: unknown) => void): Promise<void> {
    const removals = this.#parts.map(part => {
      try {
        return part.forgetUser()
      } catch (error) {
        onError(error)
      }
    })
    for (const removal of removals) await Promise.resolve(removal).catch(onError)
  }
}
