/** A text that reached a sink. */
export interface Sighting {
  readonly sink: string
  /** The place in the sink: a key, a method and path, the name of a span. */
  readonly where: string
  readonly text: string
}

/** Everything that reached a sink during an audit. */
export class Sightings {
  readonly #all: Sighting[] = []

  get all(): readonly Sighting[] {
    return this.#all
  }

  /** Adds values of any kind. */
  add(sink: string, where: string, ...values: readonly unknown[]): void {
    this.#all.push({ sink, where, text: values.map(value => toText(value)).join('\n') })
  }
}

const DEPTH_LIMIT = 12

/** All texts in a value: of an error also its message, stack and cause. */
function toText(value: unknown): string {
  const seen = new WeakSet<object>()
  const read = (part: unknown, depth: number): string => {
    if (typeof part === 'function' || typeof part === 'symbol') return ''
    if (typeof part !== 'object' || part === null) return String(part)
    if (seen.has(part) || depth > DEPTH_LIMIT) return ''
    seen.add(part)
    if (part instanceof ArrayBuffer) return read(new Uint8Array(part), depth)
    if (ArrayBuffer.isView(part)) return new TextDecoder().decode(part)
    const texts: string[] = []
    if (part instanceof Error) texts.push(part.name, part.message, part.stack ?? '', read(part.cause, depth + 1))
    if (part instanceof Map || part instanceof Set) texts.push(read([...part], depth + 1))
    for (const [key, child] of Object.entries(part)) texts.push(`${key}: ${read(child, depth + 1)}`)
    return texts.join('\n')
  }
  return read(value, 0)
}
