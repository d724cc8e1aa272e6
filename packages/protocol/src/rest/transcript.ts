import { listOf, optional, type Reader, readAnything, readRecord } from '../reading.ts'

/** Messages of an earlier session, from `GET …/conversations/sessions/{sessionId}`. */
export interface PreviousTranscript {
  /** The messages. The shape of an element is open; the emulator sends frames. */
  messages?: unknown[] | null
}

/** @throws {ProtocolError} when the value is not an object, or its messages are not a list */
export const parsePreviousTranscript: Reader<PreviousTranscript> = (value, path) =>
  readRecord<PreviousTranscript>(value, path, { messages: optional(listOf(readAnything)) })
