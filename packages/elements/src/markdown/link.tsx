/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import type { ChatStrings } from '../strings/chat-strings.ts'

/** A link of an answer: in a new window, which learns nothing of the page. */
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
  const isWeb = href.startsWith('http')
  return (
    <a href={href} part={part ?? 'link'} {...(isWeb && { target: '_blank', rel: 'noopener noreferrer nofollow' })}>
      {children}
      {isWeb && <span class="sr"> ({strings.newWindow})</span>}
    </a>
  )
}
