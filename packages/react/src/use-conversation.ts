import type { ConversationConnection, ConversationSnapshot } from '@aiagent/view'
import { useRef, useSyncExternalStore } from 'react'
import { useConversationView } from './provider.ts'

/** A value that was selected from a snapshot. */
interface Selected<T> {
  readonly snapshot: ConversationSnapshot
  readonly select: (snapshot: ConversationSnapshot) => T
  readonly value: T
}

const all = (snapshot: ConversationSnapshot): ConversationSnapshot => snapshot

/** The snapshot of the conversation. The component renders again when it changes. */
export function useConversation(): ConversationSnapshot
/**
 * A part of the snapshot. The component renders again when the part changes: another value, or an object or list with another
 * member.
 *
 * @example const messages = useConversation(({ messages }) => messages)
 */
export function useConversation<T>(select: (snapshot: ConversationSnapshot) => T): T
export function useConversation<T>(
  select: (snapshot: ConversationSnapshot) => T | ConversationSnapshot = all,
): T | ConversationSnapshot {
  const view = useConversationView()
  const last = useRef<Selected<T | ConversationSnapshot> | undefined>(undefined)
  const read = (snapshot: ConversationSnapshot) => {
    const before = last.current
    if (before && before.snapshot === snapshot && before.select === select) return before.value
    const next = select(snapshot)
    const value = before && isSame(before.value, next) ? before.value : next
    last.current = { snapshot, select, value }
    return value
  }
  return useSyncExternalStore(
    view.subscribe,
    () => read(view.getSnapshot()),
    () => read(view.getServerSnapshot()),
  )
}

/** State of the connection, and what helps. */
export function useConnection(): ConversationConnection {
  return useConversation(({ connection }) => connection)
}

/** Whether two values are the same, or objects or lists with the same members. */
function isSame(before: unknown, after: unknown): boolean {
  if (!isObject(before) || !isObject(after)) return Object.is(before, after)
  const keys = Object.keys(after)
  return keys.length === Object.keys(before).length && keys.every(key => Object.is(before[key], after[key]))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
