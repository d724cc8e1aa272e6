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
  /** Label of the button that sends the text. */
  readonly send: string
  /** Heading of a conversation without messages. */
  readonly emptyTitle: string
  /** Text below the heading of a conversation without messages. */
  readonly emptyText: string
  /** The agent is working on an answer. */
  readonly working: (name: string) => string
  /** State of the connection, below the heading. */
  readonly connected: string
  /** State of the connection while the chat opens. */
  readonly connecting: string
  /** State of the connection after the chat has ended or failed. */
  readonly disconnected: string
  /** The connection was lost. */
  readonly reconnecting: string
  /** The service could not be reached for a while. */
  readonly unreachable: string
  /** When the next attempt to connect follows, with a time such as "in 5 seconds". */
  readonly nextAttempt: (when: string) => string
  /** The service has asked for that wait. */
  readonly waitAsked: string
  /** Button that ends the wait for the next attempt. */
  readonly tryNow: string
  /** Notice while the device has no network. */
  readonly offline: string
  /** A message was sent and nothing has arrived since. */
  readonly silent: string
  /** States of the user's messages. */
  readonly queued: string
  /** State of a message that is being written to the connection. */
  readonly sending: string
  /** State of a message that was sent. */
  readonly sent: string
  /** State of a message that was sent and may not have arrived. */
  readonly unknown: string
  /** State of a message that was not sent. */
  readonly failed: string
  /** Several messages may not have arrived, for screen readers. */
  readonly manyUnknown: (count: number) => string
  /** Several messages were not sent, for screen readers. */
  readonly manyFailed: (count: number) => string
  /** Several messages that had waited, or were in doubt, were sent; for screen readers. */
  readonly manySent: (count: number) => string
  /** Button that sends such a message again. */
  readonly retry: string
  /** Takes a waiting message back. */
  readonly cancel: string
  /** The user took the message back. */
  readonly cancelled: string
  /** Heading of the sources of an answer. */
  readonly sources: string
  /** What opens the reasoning of an answer. */
  readonly reasoning: string
  /** Name of the group of suggested answers, for screen readers. */
  readonly options: string
  /** Label of the button that rates an answer as good. */
  readonly helpful: string
  /** Label of the button that rates an answer as bad. */
  readonly notHelpful: string
  /** Said after a rating. */
  readonly thanks: string
  /** Offered after a bad rating, and sent to the agent as the user's message; an empty text offers nothing. */
  readonly askPerson: string
  /** Label of the button that copies an answer. */
  readonly copyAnswer: string
  /** Label of the button that copies a block of code. */
  readonly copyCode: string
  /** The text is in the clipboard. */
  readonly copied: string
  /** The browser has refused the clipboard. */
  readonly copyFailed: string
  /** Question before a new conversation is started, below which the present one stays to read. */
  readonly restartAsk: string
  /** Hint on text that masking replaced. */
  readonly masked: string
  /** Divider above the first unread message. */
  readonly newMessages: string
  /** Button that leads to unread messages below. */
  readonly unread: (count: number) => string
  /** Button that leads to the end of the conversation. */
  readonly toEnd: string
  /** Button that shows messages above the first visible one. */
  readonly showEarlier: string
  /** Divider above the messages of this day. */
  readonly today: string
  /** Divider above the messages of the day before. */
  readonly yesterday: string
  /** Headings of the choices. */
  readonly choosePortal: string
  /** Heading of the choice of an agent. */
  readonly chooseAgent: string
  /** Heading of the choice of a profile. */
  readonly chooseProfile: string
  /** Field that filters long lists of choices. */
  readonly filter: string
  /** Shown when no choice matches the filter. */
  readonly noMatch: string
  /** Mark on the profile that the user worked with last. */
  readonly lastUsed: string
  /** Heading above the login button. */
  readonly loginTitle: string
  /** Why the user has to sign in. */
  readonly loginText: string
  /** Button that opens the login. */
  readonly login: string
  /** Shown while the window of the login is open. */
  readonly loginWaiting: string
  /** Shown when the user may have closed that window: a page cannot always know it. */
  readonly loginUnsure: string
  /** Shown when the browser has blocked the window, with what to do. */
  readonly loginBlocked: string
  /** Button that opens the window of the login again. */
  readonly loginAgain: string
  /** Button that ends the wait for that window, or keeps the conversation. */
  readonly loginCancel: string
  /** Heading of the ways to a human. */
  readonly escalation: string
  /** Link to a live chat with a human. */
  readonly escalationLive: string
  /** Link that calls a phone number. */
  readonly call: (number: string) => string
  /** Link that opens a text message to a phone number. */
  readonly sms: (number: string) => string
  /** Link that opens an email. */
  readonly email: string
  /** A hand-over that names no usable way. */
  readonly escalationNone: string
  /** Label of the button that opens the menu. */
  readonly menu: string
  /** Menu item that saves the conversation as a file. */
  readonly download: string
  /** Menu item that starts a new conversation. */
  readonly restart: string
  /** Label of the button that closes the chat. */
  readonly close: string
  /** Heading of the notice about a conversation that has ended. */
  readonly ended: string
  /** Text of that notice. */
  readonly endedText: string
  /** Button that connects again after the end of a conversation. */
  readonly continue: string
  /** Heading shown when the chat could not start. */
  readonly errorTitle: string
  /** Text shown when a retry may help. */
  readonly errorText: string
  /** Tries to reach the service again. */
  readonly retryStart: string
  /** The agent cannot be used as it is configured. */
  readonly errorSetup: string
  /** Button that reloads the page, where a file of the chat could not be loaded. */
  readonly reload: string
  /** The user's message or action failed. */
  readonly errorAction: string
  /** The chat with a colleague could not be opened, or has ended by an error. */
  readonly errorDesk: string
  /** A message to a colleague failed, or was not confirmed; the chat continues. */
  readonly errorDeskMessage: string
  /** Author of a colleague's messages, where the colleague has no name. */
  readonly colleague: string
  /** Mark in the list: the service no longer has the conversation of the previous page. */
  readonly sessionExpired: string
  /** Mark in the list: a new session begins, in which the agent knows nothing of the messages above. */
  readonly sessionBegins: string
  /** Mark in the list: the agent's part ends here. */
  readonly deskOpened: string
  /** Notice until a colleague has joined. */
  readonly deskWaiting: string
  /** The same mark once a colleague with this name has joined. */
  readonly deskJoined: (name: string) => string
  /** Mark in the list: a colleague has left, and the user waits for another one. */
  readonly deskLeft: (name: string) => string
  /** Mark in the list: the colleague has left. */
  readonly deskClosed: string
  /** Mark in the list: the chat has ended in another way. */
  readonly deskEnded: string
  /** Notice while a colleague is there. */
  readonly deskWith: (name: string) => string
  /** Button that ends that chat. */
  readonly deskEnd: string
  /** Notice while that chat is open in another tab. */
  readonly deskElsewhere: string
  /** Notice that no more messages can be queued until the connection is back. */
  readonly errorQueueFull: string
  /** Label of the button that hides a notice. */
  readonly dismiss: string
  /** The text is longer than can be sent: by so many characters. */
  readonly tooLong: (excess: string) => string
  /** So many characters remain. */
  readonly remaining: (count: string) => string
  /** Hint on links, for screen readers. */
  readonly newWindow: string
  /** Name of an image without a text. */
  readonly image: string
  /** What the button of an image does: it is shown as large as the window allows. */
  readonly enlarge: string
  /** Name of a block of code, for screen readers. */
  readonly code: string
  /** Name of a table, for screen readers. */
  readonly table: string
}

/** A text with a number in it, `#`, for each form of the plural that the language has. */
export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & {
  /** The form for all other numbers. */
  readonly other: string
}

/** The texts of one language as its file has them: plurals are tables, which `Intl.PluralRules` selects from. */
export interface LanguageTexts extends Omit<ChatStrings, 'unread' | 'manyUnknown' | 'manyFailed' | 'manySent'> {
  /** Button that leads to unread messages below. */
  readonly unread: PluralForms | ChatStrings['unread']
  /** Several messages may not have arrived, for screen readers. */
  readonly manyUnknown: PluralForms | ChatStrings['manyUnknown']
  /** Several messages were not sent, for screen readers. */
  readonly manyFailed: PluralForms | ChatStrings['manyFailed']
  /** Several messages that had waited, or were in doubt, were sent; for screen readers. */
  readonly manySent: PluralForms | ChatStrings['manySent']
}
