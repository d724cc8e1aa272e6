// Packs the packages as they are published into the folder `tarballs`: `npm run pack`, or `npm run pack -- client protocol`.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readCommandLine, UsageError } from './command-line.ts'
import { packStaged, publishedPackages, stagePackage } from './stage.ts'
import { ROOT, run } from './tools.ts'

const packages = publishedPackages()
const named = readCommandLine(
  {
    name: 'pack',
    about: 'Builds the packages and packs them as they are published, into the folder tarballs.',
    words: { name: 'PACKAGE', help: `packages, all by default: ${packages.join(', ')}` },
    options: {},
  },
  ({ words }) => {
    const unknown = words.find(name => !packages.includes(name))
    if (unknown !== undefined) throw new UsageError(`There is no package "${unknown}".`)
    return words
  },
)

const { code } = await run('npm', ['run', '--silent', 'build', ...(named.length > 0 ? ['--', ...named] : [])])
if (code !== 0) throw new Error('The build failed.')
const tarballs = join(ROOT, 'tarballs')
rmSync(tarballs, { recursive: true, force: true })
for (const name of named.length > 0 ? named : packages)
  console.log(packStaged(stagePackage(name, join(ROOT, '.cache', 'packed')), tarballs))
