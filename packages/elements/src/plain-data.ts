/** A plain object or an array: compared and copied by value. Everything else is compared by identity. */
type PlainData = Record<string, unknown>

function isPlain(value: unknown): value is PlainData {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  // The prototype of plain objects, also of those from another frame, has none itself.
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Whether two values are equal: plain data by value, instances of classes by identity. Functions are always equal.
 *
 * @param read what to compare instead of a value other than plain data; default: the value
 */
export function isSame(
  one: unknown,
  other: unknown,
  read = (value: unknown) => value,
  compared = new Map<unknown, Set<unknown>>(),
): boolean {
  if (typeof one === 'function' && typeof other === 'function') return true
  if (!isPlain(one) || !isPlain(other)) return Object.is(read(one), read(other))
  const others = compared.get(one) ?? new Set()
  // Compared already, or in progress: a circular reference.
  if (others.has(other)) return true
  compared.set(one, others.add(other))
  if ((Array.isArray(one) && one.length) !== (Array.isArray(other) && other.length)) return false
  return Object.keys({ ...one, ...other }).every(name => isSame(one[name], other[name], read, compared))
}

/**
 * Copies plain data. Functions of the copy call those that the newest equal data has in their place.
 *
 * @param newest returns that data
 */
export function copyPlain<T>(value: T, newest: () => T, copies = new Map<unknown, unknown>()): T {
  if (!isPlain(value)) return value
  if (copies.has(value)) return copies.get(value) as T
  const copy = (Array.isArray(value) ? [] : {}) as PlainData
  copies.set(value, copy)
  const holder = newest as () => PlainData
  for (const [name, each] of Object.entries(value)) {
    const current = () => holder()[name]
    copy[name] =
      typeof each === 'function'
        ? new Proxy(each, {
            apply: (_, self, given) =>
              Reflect.apply(current() as () => unknown, self === copy ? holder() : self, given),
            construct: (_, given) => Reflect.construct(current() as new () => object, given),
          })
        : copyPlain(each, current, copies)
  }
  return copy as T
}
