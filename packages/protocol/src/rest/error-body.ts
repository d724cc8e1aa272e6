import { type Reader, readRecord, readText } from '../reading.ts'

/** Body of a refused REST call, as the emulator sends it. A client shows it and never depends on it. */
export interface ErrorBody {
  /** Code such as `401-290`. */
  code: string
  /** Text for people. */
  message: string
}

/** @throws {ProtocolError} when the value has no code or no message */
export const parseErrorBody: Reader<ErrorBody> = (value, path) =>
  readRecord<ErrorBody>(value, path, { code: readText, message: readText })
