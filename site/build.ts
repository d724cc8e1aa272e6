// Builds the site into site/dist: `npm run site`. A link that leads nowhere, a public name without a docstring, and what `checkSite()`
// finds in a browser fail it.
import { cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build as buildPlayground } from 'vite'
import { build } from 'vitepress'
import { writeApi } from './src/api.ts'
import { checkSite } from './src/check.ts'
import { writeTextsForModels } from './src/llms.ts'
import { DIST, PAGES, ROOT, SITE } from './src/paths.ts'
import { guideSections, preparePages } from './src/prepare.ts'

const base = process.env['SITE_BASE'] ?? '/'
const packages = readdirSync(join(ROOT, 'packages')).filter(name =>
  existsSync(join(ROOT, 'packages', name, 'tsdown.config.mjs')),
)
const pages = preparePages(base)
writeTextsForModels(pages, guideSections())
cpSync(join(ROOT, 'apps', 'playground', 'public', 'icon.svg'), join(PAGES, 'public', 'icon.svg'))
const { count, undocumented } = await writeApi(packages)
console.log(`${count - undocumented.length} of ${count} modules, public names and members have a docstring.`)
for (const name of undocumented) console.error(`${name} has no docstring.`)
await build(SITE)
await buildPlayground({
  configFile: join(ROOT, 'apps', 'playground', 'vite.config.ts'),
  logLevel: 'error',
  build: { outDir: join(DIST, 'live'), emptyOutDir: true },
})
const problems = await checkSite(base)
for (const problem of problems) console.error(problem)
process.exitCode = undocumented.length + problems.length === 0 ? 0 : 1
