/** One utterance in the call that the contact center's platform handles. */
export interface CallTranscriptEntry {
  /** The speaker, as the platform names them. */
  readonly sender: string
  /** What was said. */
  readonly content: string
  /** When it was said. */
  readonly timestamp: Date
}

/** The transcript of a call in which nothing has been said, and of no call. */
export const NO_CALL_TRANSCRIPT: readonly CallTranscriptEntry[] = /* @__PURE__ */ Object.freeze([])

/** An utterance that a connector adds to the call's transcript. */
export interface CallTranscriptInput {
  /** The speaker, as the platform names them. */
  sender: string
  /** What was said. */
  content: string
  /** When it was said. @default now */
  timestamp?: Date | number | string
}

/** The caller, as far as the platform knows. */
export interface CallerInfo {
  /** Full name. */
  name?: string
  /** Phone number, in the platform's notation. */
  phone?: string
  /** E-mail address. */
  email?: string
  /** Further fields of the platform. */
  [field: string]: unknown
}

/** Facts about the call, by name, as the platform reports them. */
export type UserContext = Record<string, unknown>

/** Tags that filter the agent's answers, by name: `{ product: ['router'] }`. Passed on as the connector gives them. */
export type FilterTags = Record<string, unknown>

/** Payload of `callTranscriptUpdate`. */
export interface CallTranscriptUpdate {
  /** The new entry; absent when the transcript was cleared. */
  entry?: CallTranscriptEntry
  /** The whole transcript of the call. */
  entries: readonly CallTranscriptEntry[]
}

/** Tells that the transcript of the call has changed. Without `entry` it was cleared, which is told even when it was empty. */
export function tellCallTranscript(
  scope: { emit(type: 'callTranscriptUpdate', payload: () => CallTranscriptUpdate): void },
  entries: readonly CallTranscriptEntry[],
  entry?: CallTranscriptEntry,
): void {
  scope.emit('callTranscriptUpdate', () => (entry ? { entry, entries } : { entries }))
}
