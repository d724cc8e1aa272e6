/**
 * The snapshot of a conversation as a signal of Solid.
 *
 * @module
 */
import type { ConversationSnapshot, ConversationView } from '@aiagent/view'
import { type Accessor, createSignal, onCleanup } from 'solid-js'

/**
 * The snapshot of a conversation as a signal, until the component or the root ends. What has not changed is the same object, so that
 * `<For>` keeps the elements of messages, and `createMemo()` selects a part. Call `view.start()` when the chat is mounted, and
 * `view.leave()` when it is cleaned up.
 *
 * @example const snapshot = createConversation(view)
 */
export function createConversation(view: ConversationView): Accessor<ConversationSnapshot> {
  const [snapshot, setSnapshot] = createSignal(view.getSnapshot())
  onCleanup(view.subscribe(() => setSnapshot(view.getSnapshot())))
  return snapshot
}
