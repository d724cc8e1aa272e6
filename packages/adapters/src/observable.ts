/** Receives the values of an {@link ObservableLike}. */
export interface ObserverLike<T> {
  /** Receives each value. */
  next?: (value: T) => void
  /** Receives the error with which the observable ends. */
  error?: (error: unknown) => void
  /** Called when the observable ends without an error. */
  complete?: () => void
}

/** An observable as DirectLine clients use it. */
export interface ObservableLike<T> {
  /**
   * Calls the observer for each value until the observable ends or the returned subscription is cancelled. A function
   * receives the values only.
   */
  subscribe(observer: ObserverLike<T> | ((value: T) => void)): { unsubscribe(): void }
}

type Observer<T> = ObserverLike<T> | ((value: T) => void)

/** Calls an observer. What it throws is reported to the page or the console, and does not reach the caller. */
export function nextOf<T>(observer: Observer<T>): (value: T) => void {
  return value => attempt(() => (typeof observer === 'function' ? observer(value) : observer.next?.(value)))
}

/** Values for any number of observers, which are completed at once after the end. */
export function createSubject<T>() {
  const observers = new Set<Observer<T>>()
  let isComplete = false
  const completeOf = (observer: Observer<T>) => {
    if (typeof observer !== 'function') attempt(() => observer.complete?.())
  }
  return {
    subscribe(observer: Observer<T>) {
      if (isComplete) completeOf(observer)
      else observers.add(observer)
      return { unsubscribe: () => void observers.delete(observer) }
    },
    next(value: T) {
      for (const observer of [...observers]) nextOf(observer)(value)
    },
    complete() {
      isComplete = true
      for (const observer of [...observers]) completeOf(observer)
      observers.clear()
    },
  }
}

/** Runs code of a host. What it throws is reported to the page or the console. */
export function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (typeof reportError === 'function') reportError(error)
    else console.error(error)
  }
}
