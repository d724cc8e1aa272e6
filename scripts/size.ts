// Compares what a page loads of the client with the budgets in size-budgets.json, minified and compressed: npm run size
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compressedBytes, loadedSizes } from './loaded-sizes.ts'
import { ROOT } from './tools.ts'

/** One budget: the most bytes, and why so many; `goal` is what we would like, and fails nothing. */
interface Budget {
  bytes: number
  goal?: number
  why: string
}

const DIST = join(ROOT, 'packages', 'client', 'dist')
/** Files that a page loads as they were built. */
const FILES = ['ai-agent-sdk.iife.js', 'ai-agent-sdk-login.js', 'callback.html']
/** The page whose chunks are measured. */
const CORE = `import { AiAgent } from '@aiagent/client'\nglobalThis.AiAgent = AiAgent`
/** Further entries, which pages use beside it. */
const ENTRIES = {
  pkce: `export * from '@aiagent/client/pkce'`,
  msal: `export * from '@aiagent/client/msal'`,
  unstorage: `export * from '@aiagent/client/unstorage'`,
}

const budgets = JSON.parse(readFileSync(join(ROOT, 'scripts', 'size-budgets.json'), 'utf8')) as Record<string, Budget>
const measured = await measure()
let passed = true
for (const [name, bytes] of measured) {
  const budget = budgets[name]
  const fits = budget !== undefined && bytes <= budget.bytes
  if (!fits) passed = false
  const verdict = fits ? 'fits' : budget ? 'TOO LARGE' : 'NO BUDGET'
  const limit = budget ? `of ${kilobytes(budget.bytes)}` : ''
  const goal = budget?.goal ? `, goal ${kilobytes(budget.goal)}${bytes > budget.goal ? ' (missed)' : ''}` : ''
  console.log(`${verdict.padEnd(10)} ${name.padEnd(28)} ${kilobytes(bytes).padStart(9)} ${limit}${goal}`)
}
for (const name of Object.keys(budgets).filter(name => !measured.has(name))) {
  passed = false
  console.error(`There is a budget for "${name}", which does not exist.`)
}
if (!passed) console.error('Make it smaller, or change scripts/size-budgets.json and say why there.')
process.exitCode = passed ? 0 : 1

/** Sizes by name: the core, its lazy chunks, what further entries add to the core, and built files. */
async function measure(): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const core = await loadedSizes(CORE)
  sizes.set('core', core.atOnce)
  for (const [chunk, bytes] of core.onDemand) sizes.set(`chunk ${chunk}`, bytes)
  for (const [name, source] of Object.entries(ENTRIES)) {
    const { atOnce } = await loadedSizes(`${CORE}\n${source}`)
    sizes.set(name, atOnce - core.atOnce)
  }
  for (const name of FILES) {
    const path = join(DIST, name)
    if (!existsSync(path)) throw new Error('The client is not built. Run `npm run build`.')
    sizes.set(name, compressedBytes(readFileSync(path)))
  }
  return sizes
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`
}
