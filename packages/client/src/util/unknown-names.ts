/**
 * A sentence for each field of an object that is not known, with the known name that is nearest to it. Values that are undefined
 * do not count.
 *
 * @param path start of the names, such as `cache.`
 */
export function describeUnknownNames(path: string, given: object, known: object): string[] {
  const sentences: string[] = []
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || Object.hasOwn(known, name)) continue
    const near = nearestName(name, Object.keys(known))
    const hint = near === undefined ? '' : ` Did you mean \`${path}${near}\`?`
    sentences.push(`\`${path}${name}\` is not an option and is ignored.${hint}`)
  }
  return sentences
}

/** The name that differs in the fewest letters, at most in a third of them; capitals do not count. */
function nearestName(name: string, names: readonly string[]): string | undefined {
  let near: string | undefined
  let least = 1 + name.length / 3
  for (const each of names) {
    const distance = distanceBetween(name.toLowerCase(), each.toLowerCase())
    if (distance >= least) continue
    near = each
    least = distance
  }
  return near
}

/** How many letters must be inserted, removed or replaced until both texts are equal. */
function distanceBetween(one: string, other: string): number {
  // From the letters of `one` so far to each start of `other`, by its length.
  let distances = [...other, ''].map((_, length) => length)
  for (const letter of one) {
    let diagonal = 0
    let left = 0
    distances = distances.map((above, length) => {
      left = length === 0 ? above + 1 : Math.min(above + 1, left + 1, diagonal + Number(letter !== other[length - 1]))
      diagonal = above
      return left
    })
  }
  return distances.at(-1) ?? 0
}
