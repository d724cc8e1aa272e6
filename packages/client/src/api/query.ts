import { wellFormed } from '../util/well-formed.ts'

/** Parameters with a value; names and values are encoded. */
export function encodedQuery(parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== '')).toString()
}

/** The same with unencoded names: some calls of the service's own client send a plain dollar sign. */
export function plainQuery(parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '')
  return given.map(([name, value]) => `${name}=${encodeURIComponent(wellFormed(value))}`).join('&')
}
