import { useEffect, useState } from 'preact/hooks'

/** A value that parts of the page share. */
export interface Store<T> {
  /** The present value; the same object until it changes. */
  readonly get: () => T
  /** Replaces the value, and notifies once for all changes of a frame. */
  readonly set: (value: T) => void
  /** Replaces some fields of the value. */
  readonly patch: (change: Partial<T>) => void
  /** Calls back after changes. Returns the undo. */
  readonly subscribe: (listener: () => void) => () => void
}

/** Creates a store with its first value. */
export function createStore<T extends object>(initial: T): Store<T> {
  let value = initial
  let isPending = false
  const listeners = new Set<() => void>()
  const notify = () => {
    isPending = false
    for (const listener of [...listeners]) listener()
  }
  const set = (next: T) => {
    value = next
    if (isPending) return
    isPending = true
    // A hidden page gets no frames, and shows nothing either.
    if (document.hidden) queueMicrotask(notify)
    else requestAnimationFrame(notify)
  }
  return {
    get: () => value,
    set,
    patch: change => set({ ...value, ...change }),
    subscribe: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The part of a store's value that a component shows; it renders again when that part changes. */
export function useStore<T extends object, Part>(store: Store<T>, select: (value: T) => Part): Part {
  const [, render] = useState({})
  const selected = select(store.get())
  useEffect(() => {
    let shown = select(store.get())
    // The value may have changed between the rendering and this effect.
    if (shown !== selected) render({})
    return store.subscribe(() => {
      const next = select(store.get())
      if (next === shown) return
      shown = next
      render({})
    })
  }, [store])
  return selected
}
