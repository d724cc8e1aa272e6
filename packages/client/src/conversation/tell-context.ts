import type { ContextStore } from './context-store.ts'
import { createContextMessage } from './message-helpers.ts'
import type { OutgoingMessages } from './outgoing-messages.ts'

/**
 * Merges what changed into the context, and sends it where the session is to know at once (FLOW-07).
 *
 * It is sent first: a message that is refused leaves the context as it was, so that the same call can be made again.
 */
export function tellContext(
  { context, outgoing }: { readonly context: ContextStore; readonly outgoing: OutgoingMessages },
  attributes: Record<string, unknown>,
  sendImmediately: boolean | undefined,
): void {
  const changed = context.changesOf(attributes)
  if (Object.keys(changed).length === 0) return
  if (sendImmediately) outgoing.submit(createContextMessage({ context: changed }))
  context.merge(changed)
}
