// Compares the sizes of the client with size-budgets.json, minified and compressed: `npm run size`. Above a ceiling it
// fails, above a goal it prints the excess. `npm run size -- --analyse` shows what takes the space, by folder.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { analyseBundle, describeBundle } from './bundle-analysis.ts'
import { readCommandLine } from './command-line.ts'
import { installedSizes } from './installed-size.ts'
import { bindingSize, compressedBytes, elementSizes, loadedSizes, viteSize } from './loaded-sizes.ts'
import { type Budget, judgeSize } from './size-verdict.ts'
import { ROOT } from './tools.ts'

const DIST = join(ROOT, 'packages', 'client', 'dist')
/** Files that a page loads as they were built. */
const FILES = ['ai-agent-sdk.iife.js', 'ai-agent-sdk-login.js', 'callback.html']
/** The page whose chunks are measured. */
const CORE = `import { AiAgent } from '@aiagent/client'\nglobalThis.AiAgent = AiAgent`
/** The same from source, without the copies that the built index has of some parts. */
const CORE_SOURCE = CORE.replace('@aiagent/client', './packages/client/src/ai-agent.ts')
/** Further entries, which pages use beside it. */
const ENTRIES = {
  pkce: `export * from '@aiagent/client/pkce'`,
  msal: `export * from '@aiagent/client/msal'`,
  unstorage: `export * from '@aiagent/client/unstorage'`,
  'react-native': `export * from '@aiagent/client/react-native'`,
  view: `export * from '@aiagent/client/view'`,
  recorder: `export * from '@aiagent/client/recorder'`,
  doctor: `export * from '@aiagent/client/doctor'`,
  otel: `export * from '@aiagent/client/otel'`,
}

/** Built entries of the bindings, measured without what they adapt to and without the client. */
const BINDINGS = {
  react: 'react/dist/index.js',
  'adapters ai-sdk': 'adapters/dist/ai-sdk.js',
  'adapters assistant-ui': 'adapters/dist/assistant-ui.js',
  'adapters direct-line': 'adapters/dist/direct-line.js',
}

const isAnalysis = readCommandLine(
  {
    name: 'size',
    about: 'Compares the sizes of the built client with scripts/size-budgets.json.',
    options: { analyse: { type: 'boolean', help: 'shows what takes the space instead, by folder' } },
  },
  ({ values }) => values.analyse,
)

if (isAnalysis) console.log(describeBundle(await analyseBundle(CORE_SOURCE)))
else await compare()

async function compare(): Promise<void> {
  const budgets = JSON.parse(readFileSync(join(ROOT, 'scripts', 'size-budgets.json'), 'utf8')) as Record<string, Budget>
  const measured = await measure()
  const verdicts = [...measured].map(([name, bytes]) => judgeSize(name, bytes, budgets[name]))
  for (const { line } of verdicts) console.log(line)
  const unmeasured = Object.keys(budgets).filter(name => !measured.has(name))
  for (const name of unmeasured) console.error(`There is a budget for "${name}", which does not exist.`)
  const passed = unmeasured.length === 0 && verdicts.every(({ fits }) => fits)
  if (!passed)
    console.error(
      'Make it smaller, or raise its ceiling in scripts/size-budgets.json and add the reason to docs/decisions.md.\n' +
        '`npm run size -- --analyse` shows which folders take the space.',
    )
  process.exitCode = passed ? 0 : 1
}

/** Sizes by name: the core, its lazy chunks, what further entries add to the core, and built files. */
async function measure(): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const core = await loadedSizes(CORE)
  sizes.set('core', core.atOnce)
  for (const [chunk, bytes] of core.onDemand) sizes.set(`chunk ${chunk}`, bytes)
  sizes.set('core, vite', await viteSize(CORE))
  sizes.set('until connected', core.untilConnected)
  for (const [name, source] of Object.entries(ENTRIES)) {
    const { atOnce } = await loadedSizes(`${CORE}\n${source}`)
    sizes.set(name, atOnce - core.atOnce)
  }
  const built = (path: string) => join(ROOT, 'packages', path)
  for (const [name, path] of Object.entries(BINDINGS)) sizes.set(name, await bindingSize(built(path)))
  const hooks = await bindingSize(built(BINDINGS.react))
  sizes.set('react ai-sdk', (await bindingSize(built(BINDINGS.react), built('react/dist/ai-sdk.js'))) - hooks)
  for (const [name, bytes] of await elementSizes()) sizes.set(name, bytes)
  for (const name of FILES) {
    const path = join(DIST, name)
    if (!existsSync(path)) throw new Error('The client is not built. Run `npm run build`.')
    sizes.set(name, compressedBytes(readFileSync(path)))
  }
  sizes.set(
    'installed',
    [...installedSizes().values()].reduce((sum, bytes) => sum + bytes, 0),
  )
  return sizes
}
