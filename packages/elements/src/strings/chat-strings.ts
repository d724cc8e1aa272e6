/**
 * All texts of the chat. Plain texts are strings; texts with a value in them are functions, so that a language can choose the
 * order of words and the form of the plural.
 */
export interface ChatStrings {
  /** Code of the language, for dates and numbers: `en`, `de-AT`. */
  readonly language: string
  /** Direction in which the language is written. */
  readonly direction: 'ltr' | 'rtl'
  /** Heading of the chat where neither the host nor the agent has a name for it. */
  readonly title: string
  /** Name of the list of messages, for screen readers. */
  readonly conversation: string
  /** Author of the user's messages, for screen readers. */
  readonly you: string
  /** Author of the agent's messages where the agent has no name. */
  readonly agent: string
  /** Label of the text field. */
  readonly message: string
  /** Hint in the empty text field. */
  readonly placeholder: string
  readonly send: string
  readonly emptyTitle: string
  readonly emptyText: string
  /** The agent is working on an answer. */
  readonly working: (name: string) => string
  /** State of the connection, below the heading. */
  readonly connected: string
  readonly connecting: string
  readonly disconnected: string
  /** The connection was lost. */
  readonly reconnecting: string
  readonly offline: string
  /** A message was sent and nothing has arrived since. */
  readonly silent: string
  /** States of the user's messages. */
  readonly queued: string
  readonly sending: string
  readonly sent: string
  readonly unknown: string
  readonly failed: string
  readonly retry: string
  /** Takes a waiting message back. */
  readonly cancel: string
  /** The user took the message back. */
  readonly cancelled: string
  readonly sources: string
  readonly options: string
  readonly helpful: string
  readonly notHelpful: string
  /** Hint on text that masking replaced. */
  readonly masked: string
  /** Divider above the first unread message. */
  readonly newMessages: string
  /** Button that leads to unread messages below. */
  readonly unread: (count: number) => string
  /** Button that leads to the end of the conversation. */
  readonly toEnd: string
  readonly showEarlier: string
  readonly today: string
  readonly yesterday: string
  /** Headings of the choices. */
  readonly choosePortal: string
  readonly chooseAgent: string
  readonly chooseProfile: string
  /** Field that filters long lists of choices. */
  readonly filter: string
  readonly noMatch: string
  /** Mark on the profile that the user worked with last. */
  readonly lastUsed: string
  readonly loginTitle: string
  readonly loginText: string
  readonly login: string
  /** Heading of the ways to a human. */
  readonly escalation: string
  readonly escalationLive: string
  readonly call: (number: string) => string
  readonly sms: (number: string) => string
  readonly email: string
  /** A hand-over that names no usable way. */
  readonly escalationNone: string
  readonly menu: string
  readonly download: string
  readonly restart: string
  readonly close: string
  readonly ended: string
  readonly endedText: string
  readonly continue: string
  readonly errorTitle: string
  readonly errorText: string
  /** Tries to reach the service again. */
  readonly retryStart: string
  /** The agent cannot be used as it is configured. */
  readonly errorSetup: string
  /** The user's message or action failed. */
  readonly errorAction: string
  readonly errorQueueFull: string
  readonly dismiss: string
  /** The text is longer than can be sent: by so many characters. */
  readonly tooLong: (excess: string) => string
  /** So many characters remain. */
  readonly remaining: (count: string) => string
  /** Hint on links, for screen readers. */
  readonly newWindow: string
  /** Name of an image without a text. */
  readonly image: string
  readonly code: string
  readonly table: string
}
