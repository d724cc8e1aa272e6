/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ChatStrings } from '../strings/chat-strings.ts'

/** Number of items that are shown at first, and that each click adds. */
export const FIRST = 100

/** The first of many items, with a button that shows more: an answer may have thousands. */
export function FirstOf<Item>({
  items,
  strings,
  isList,
  children,
}: {
  items: readonly Item[]
  strings: ChatStrings
  isList?: boolean
  children: (item: Item) => ComponentChildren
}) {
  const [count, setCount] = useState(FIRST)
  const more = items.length > count && (
    <button type="button" class="link-button" onClick={() => setCount(count + FIRST)}>
      +{(items.length - count).toLocaleString(strings.language)}
    </button>
  )
  return (
    <>
      {items.slice(0, count).map(children)}
      {more && isList ? <li>{more}</li> : more}
    </>
  )
}
