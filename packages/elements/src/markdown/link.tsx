/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import type { ChatStrings } from '../strings/chat-strings.ts'

/** A link of an answer: in a new window, which learns nothing of the page, unless it leads to another page of the same site. */
export function Link({
  href,
  strings,
  part,
  children,
}: {
  href: string
  strings: ChatStrings
  part?: string
  children: ComponentChildren
}) {
  const isForeign = href.startsWith('http') && !`${href}/`.startsWith(`${location.origin}/`)
  return (
    <a href={href} part={part ?? 'link'} {...(isForeign && { target: '_blank', rel: 'noopener noreferrer nofollow' })}>
      {children}
      {isForeign && <span class="sr"> ({strings.newWindow})</span>}
    </a>
  )
}
