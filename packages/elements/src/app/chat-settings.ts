import type { AiAgent } from '@aiagent/client'
import type { ConversationDesk, ConversationMessage, ConversationSession, ConversationView } from '@aiagent/view'
import type { ComponentType } from 'preact'
import type { ChatHost, ChatProperties } from '../chat-options.ts'
import type { MarkdownOptions } from '../markdown/nodes.tsx'
import type { ChatStrings } from '../strings/chat-strings.ts'
import type { Announcer } from './announcer.ts'

/** What the components share. It is replaced as a whole, so that a component can compare it. */
export interface ChatSettings
  extends MarkdownOptions,
    Pick<ChatHost, 'root' | 'hasSlotted' | 'emit'>,
    Pick<ChatProperties, 'renderMessage' | 'suggestions'> {
  readonly agent: AiAgent
  readonly view: ConversationView
  readonly announcer: Announcer
  /** Address for hand-overs by email. */
  readonly supportEmail: string | null
  readonly heading: string | null
  /** Line below the heading. */
  readonly subtitle: string | null
  /** Address of the image beside the heading. */
  readonly avatar: string | null
  readonly direction: 'ltr' | 'rtl'
  /** Whether the heading has a button to close the chat. */
  readonly isClosable: boolean
  /** Whether a sign-in leaves the page, and opens no window. */
  readonly leavesToSignIn: boolean
  /** Shows how the agent arrived at an answer; undefined while its code is not loaded, and where the host does not want it. */
  readonly Reasoning: ComponentType<{ strings: ChatStrings; text: string }> | undefined
}

/** What a mark in the list says. */
export function markText({ mark, authorName }: ConversationMessage, strings: ChatStrings): string {
  if (mark === 'desk_left') return strings.deskLeft(authorName ?? strings.colleague)
  if (mark !== 'desk_closed') return authorName ? strings.deskJoined(authorName) : strings.deskOpened
  return authorName ? strings.deskClosed : strings.deskEnded
}

/** What is said of a chat with a colleague that is open. */
export function deskText({ isElsewhere, waitingSince, name }: ConversationDesk, strings: ChatStrings): string {
  if (isElsewhere) return strings.deskElsewhere
  return waitingSince === undefined ? strings.deskWith(name ?? strings.colleague) : strings.deskWaiting
}

/** What the list says where a session begins. */
export function sessionText({ after, hasExpired }: ConversationSession, strings: ChatStrings): string {
  return [hasExpired && strings.sessionExpired, after !== undefined && strings.sessionBegins].filter(Boolean).join(' ')
}

/** Ignores a rejection: the snapshot of the view holds the error, and the chat shows it. */
export function shownByView(work: Promise<unknown>): void {
  work.catch(() => {})
}

/** Not the second one of a double click, which may come before its button is gone. */
export function isFirstClick({ detail }: MouseEvent): boolean {
  return detail < 2
}
