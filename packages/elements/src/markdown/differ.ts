/** Whether some properties differ; lists by their elements. */
export function differ<T extends object>(before: T, next: T): boolean {
  return (Object.keys(next) as (keyof T)[]).some(name => !isSame(before[name], next[name]))
}

function isSame(one: unknown, other: unknown): boolean {
  return (
    one === other ||
    (Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => item === other[index]))
  )
}
