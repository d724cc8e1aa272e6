import { type CharSet, contains, sizeOf, union } from './char-set.ts'
import type { PatternNode } from './parse.ts'

/** The ASCII code units of a text, a bit each; a fifth number states whether it has others. */
export type Characters = readonly number[]

export function charactersOf(text: string): Characters {
  const found = [0, 0, 0, 0, 0]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const word = code < 128 ? code >> 5 : 4
    found[word] = (found[word] as number) | (1 << (code & 31))
  }
  return found
}

/**
 * Decides from its characters alone that a text has no match: most patterns need one that most texts do not contain.
 *
 * @returns whether a text of these characters can have a non-empty match
 */
export function createPrefilter(tree: PatternNode): (characters: Characters) => boolean {
  const sets = neededSets(tree).sort((a, b) => sizeOf(a) - sizeOf(b))
  const needed = [...new Map(sets.map(set => [String(set), wordsOf(set)])).values()]
  return characters => {
    for (const words of needed) {
      let found = 0
      for (let index = 0; index < 5; index++) found |= (words[index] as number) & (characters[index] as number)
      if (!found) return false
    }
    return true
  }
}

/** Sets of which every match, with its lookarounds, contains a code unit each. */
function neededSets(node: PatternNode): CharSet[] {
  switch (node.kind) {
    case 'char':
      return [node.set]
    case 'sequence':
      return node.parts.flatMap(neededSets)
    case 'choice': {
      const rarest = node.options.map(option => neededSets(option).sort((a, b) => sizeOf(a) - sizeOf(b))[0])
      const known = rarest.filter(set => set !== undefined)
      return known.length === rarest.length ? [union(...known)] : []
    }
    case 'repeat':
      return node.min > 0 ? neededSets(node.body) : []
    case 'look':
      return node.negated ? [] : neededSets(node.body)
    default:
      return []
  }
}

function wordsOf(set: CharSet): number[] {
  const words = [0, 0, 0, 0, (set.at(-1) ?? 0) > 127 ? -1 : 0]
  for (let code = 0; code < 128; code++)
    if (contains(set, code)) words[code >> 5] = (words[code >> 5] as number) | (1 << (code & 31))
  return words
}
