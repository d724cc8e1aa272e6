/**
 * The snapshot of a conversation as a signal of Angular.
 *
 * @module
 */
import type { ConversationSnapshot, ConversationView } from '@aiagent/view'
import { DestroyRef, inject, type Signal, signal } from '@angular/core'

/**
 * The snapshot of a conversation as a signal, until the component or the injector is destroyed. Call it where `inject()` may be called,
 * as in the initializer of a field. Call `view.start()` when the chat is created, and `view.leave()` when it is destroyed.
 *
 * @example readonly snapshot = injectConversation(inject(VIEW))
 */
export function injectConversation(view: ConversationView): Signal<ConversationSnapshot> {
  const snapshot = signal(view.getSnapshot())
  inject(DestroyRef).onDestroy(view.subscribe(() => snapshot.set(view.getSnapshot())))
  return snapshot.asReadonly()
}
