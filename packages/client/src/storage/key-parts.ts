/**
 * Joins the parts of a store key by `_`. Different lists of parts give different keys: a `_` within a part is encoded
 * as `%5F`, and `%` as `%25`.
 */
export function joinKeyParts(...parts: readonly string[]): string {
  return parts.map(part => part.replaceAll('%', '%25').replaceAll('_', '%5F')).join('_')
}
