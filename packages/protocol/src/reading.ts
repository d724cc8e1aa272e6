/*
 * Readers of records: small functions that check a value and return a copy with the type. A value that does not fit
 * throws a ProtocolError that names the field. Tables of readers are built inside functions, not when the module loads,
 * so that a bundler can remove the readers that a program does not use.
 */
import { isJsonObject } from './json-object.ts'
import { ProtocolError } from './protocol-error.ts'

/**
 * Reads a value as `T`.
 *
 * @param path the field's name, for the error message; empty for the whole answer
 * @param onLeftOut called for each element that a list is read without, since it does not fit
 * @throws {ProtocolError} when the value does not fit
 */
export type Reader<T> = (value: unknown, path?: string, onLeftOut?: (reason: ProtocolError) => void) => T

/** A reader for each field. A required field needs a reader that refuses `undefined`. */
type FieldReaders<T> = {
  readonly [Name in keyof T]-?: object extends Pick<T, Name> ? Reader<T[Name] | undefined> : Reader<T[Name]>
}

/** Names that could become a prototype when the record is copied by assignment. They are removed. */
const UNSAFE_NAMES = ['__proto__', 'prototype', 'constructor']

export function refuse(expected: string, value: unknown, path?: string): never {
  throw new ProtocolError(`${path || 'The answer'} is not ${expected}.`, value)
}

/** Reads an object. Fields without a reader pass through. */
export function readRecord<T extends object>(
  value: unknown,
  path: string | undefined,
  readers: FieldReaders<T>,
  onLeftOut?: (reason: ProtocolError) => void,
): T {
  if (!isJsonObject(value)) return refuse('an object', value, path)
  const record: Record<string, unknown> = {}
  // Written without `delete`, which gives each record a separate hidden class.
  for (const name of new Set([...Object.keys(value), ...Object.keys(readers)])) {
    if (UNSAFE_NAMES.includes(name)) continue
    const read = Object.hasOwn(readers, name) ? (readers as Record<string, Reader<unknown>>)[name] : undefined
    const field = read ? read(value[name], path ? `${path}.${name}` : name, onLeftOut) : value[name]
    if (field !== undefined || !read) record[name] = field
  }
  return record as T
}

/** Reads a list. An element that does not fit is left out: it must not cost the others. */
export const listOf =
  <T>(read: Reader<T>): Reader<T[]> =>
  (value, path, onLeftOut) => {
    if (!Array.isArray(value)) return refuse('a list', value, path)
    return value.flatMap((element, index) => {
      try {
        return [read(element, `${path ?? ''}[${index}]`, onLeftOut)]
      } catch (reason) {
        onLeftOut?.(reason as ProtocolError)
        return []
      }
    })
  }

/** The value may be missing or null. */
export const optional =
  <T>(read: Reader<T>): Reader<T | null | undefined> =>
  (value, path, onLeftOut) =>
    value === null || value === undefined ? value : read(value, path, onLeftOut)

/** The value may be missing, but not null. */
export const ifPresent =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  (value, path, onLeftOut) =>
    value === undefined ? undefined : read(value, path, onLeftOut)

/** A value that does not fit reads as absent. */
export const orAbsent =
  <T>(read: Reader<T>): Reader<T | undefined> =>
  value => {
    try {
      return read(value)
    } catch {
      return undefined
    }
  }

export const readText: Reader<string> = (value, path) =>
  typeof value === 'string' ? value : refuse('text', value, path)
export const readFilledText: Reader<string> = (value, path) => readText(value, path) || refuse('filled', value, path)
export const readFlag: Reader<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse('true or false', value, path)
export const readNumber: Reader<number> = (value, path) =>
  typeof value === 'number' && !Number.isNaN(value) ? value : refuse('a number', value, path)
export const readFinite: Reader<number> = (value, path) =>
  Number.isFinite(value) ? (value as number) : refuse('a finite number', value, path)
export const readAnything: Reader<unknown> = value => value
export const readTextOrTexts: Reader<string | string[]> = (value, path) =>
  Array.isArray(value) ? listOf(readText)(value, path) : readText(value, path)
/** An object whose fields belong to the host. */
export const readOpenObject: Reader<Record<string, unknown>> = (value, path) => readRecord(value, path, {})
