/**
 * The snapshot of a conversation as a ref of Vue.
 *
 * @module
 */
import type { ConversationSnapshot, ConversationView } from '@aiagent/view'
import { getCurrentInstance, onMounted, onScopeDispose, type ShallowRef, shallowRef } from 'vue'

/**
 * The snapshot of a conversation as a ref, until the component or the effect scope ends. On a server it does not listen. Call
 * `view.start()` when the chat is mounted, and `view.leave()` when it is unmounted.
 *
 * @example const snapshot = useConversation(view)
 */
export function useConversation(view: ConversationView): Readonly<ShallowRef<ConversationSnapshot>> {
  const snapshot = shallowRef(view.getSnapshot())
  const update = () => {
    snapshot.value = view.getSnapshot()
  }
  const listen = () => {
    update()
    undo = view.subscribe(update)
  }
  let undo = () => {}
  // A server never mounts a component, and never ends the scope of one.
  if (getCurrentInstance()) onMounted(listen)
  else listen()
  onScopeDispose(() => undo())
  return snapshot
}
