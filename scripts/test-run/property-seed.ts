import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

/** Names the seed of property tests. Without it, each run draws one. */
const VARIABLE = 'PROPERTY_SEED'

const SEEDED = fileURLToPath(new URL('../../packages/test-support/src/seeded-fast-check.ts', import.meta.url))

/** The seed of this run, for workers too: they inherit the environment. */
export function propertySeed(): number {
  const given = process.env[VARIABLE]
  const seed = given ? Number(given) : randomInt(2 ** 31)
  if (!Number.isInteger(seed)) throw new Error(`${VARIABLE} is "${given}". Set an integer.`)
  process.env[VARIABLE] = String(seed)
  return seed
}

/** Gives tests that import fast-check one whose properties start from the seed of the run. */
export function seedProperties(): Plugin {
  propertySeed()
  return {
    name: 'seed-properties',
    enforce: 'pre',
    resolveId: (source, importer) => (source === 'fast-check' && importer !== SEEDED ? SEEDED : undefined),
  }
}

/** The command that repeats a failed property, or undefined if the error is not one of a property. */
export function repeatCommand(file: string, title: string, message: string): string | undefined {
  const seed = /Property failed after \d+ tests\s+\{ seed: (-?\d+)/.exec(message)?.[1]
  return seed === undefined ? undefined : `${VARIABLE}=${seed} npx vitest run ${file} -t ${JSON.stringify(title)}`
}
