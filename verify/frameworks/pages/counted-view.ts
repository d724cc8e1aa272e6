import { createConversationView as createView } from '../../../packages/view/src/index.ts'

declare global {
  /** Number of listeners of all views of the page. */
  var listenerCount: number
}

globalThis.listenerCount = 0

/** The view, which counts its listeners. */
export const createConversationView: typeof createView = (...args) => {
  const view = createView(...args)
  return {
    ...view,
    subscribe(listener) {
      const undo = view.subscribe(listener)
      globalThis.listenerCount++
      return () => {
        undo()
        globalThis.listenerCount--
      }
    },
  }
}
