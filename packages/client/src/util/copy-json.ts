/** A copy of a value of JSON, also where there is no `structuredClone`. Undefined stays undefined. */
export function copyJson<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
