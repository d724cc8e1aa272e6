/**
 * The snapshot of a conversation as a store of Svelte.
 *
 * @module
 */
import type { ConversationSnapshot, ConversationView } from '@aiagent/view'

/** A store that Svelte reads as `$store`: assignable to `Readable` of `svelte/store`. */
export interface ConversationStore {
  /** Calls back at once, and after each change. Returns the undo. */
  subscribe(this: void, run: (snapshot: ConversationSnapshot) => void): () => void
}

/**
 * The snapshot of a conversation as a readable store. Svelte listens as long as a component shows it. Call `view.start()` when the
 * chat is mounted, and `view.leave()` when it is destroyed.
 *
 * @example const snapshot = conversationStore(view)
 */
export function conversationStore(view: ConversationView): ConversationStore {
  return {
    subscribe(run) {
      run(view.getSnapshot())
      return view.subscribe(() => run(view.getSnapshot()))
    },
  }
}
