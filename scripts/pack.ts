// Packs the packages as they are published into the folder `tarballs`: `npm run pack`, or `npm run pack -- client protocol`.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { packStaged, publishedPackages, stagePackage } from './stage.ts'
import { ROOT, run } from './tools.ts'

const named = process.argv.slice(2)
const packages = publishedPackages()
const unknown = named.find(name => !packages.includes(name))
if (unknown !== undefined) throw new Error(`There is no package "${unknown}". The packages: ${packages.join(', ')}.`)

const { code } = await run('npm', ['run', '--silent', 'build', ...(named.length > 0 ? ['--', ...named] : [])])
if (code !== 0) throw new Error('The build failed.')
const tarballs = join(ROOT, 'tarballs')
rmSync(tarballs, { recursive: true, force: true })
for (const name of named.length > 0 ? named : packages)
  console.log(packStaged(stagePackage(name, join(ROOT, '.cache', 'packed')), tarballs))
