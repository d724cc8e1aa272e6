import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const TEMPLATES = join(ROOT, 'verify/frameworks/templates')

interface Manifest {
  readonly name: string
  readonly bin?: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
const PACKAGES = readdirSync(join(ROOT, 'packages')).map(name => manifestIn(join(ROOT, 'packages', name)))

it.each(readdirSync(TEMPLATES))('[ADOPT-13] the README of the template %s runs only what it installs', name => {
  const folder = join(TEMPLATES, name)
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const { scripts, dependencies, devDependencies } = manifestIn(folder)
  const installed = { ...dependencies, ...devDependencies }
  const commands = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))
  expect(commands).toContainEqual(expect.stringMatching(/^npm run emulate/))
  // npx asks the registry for a package of the name of the command.
  for (const command of commands) expect(command).toMatch(/^npm (?:install|run)\b/)
  for (const [, script = ''] of commands.join('\n').matchAll(/^npm run (\w+)/gm)) expect(scripts).toHaveProperty(script)
  const owner = PACKAGES.find(({ bin }) => bin && 'aiagent' in bin)?.name ?? ''
  expect(scripts['emulate']).toMatch(/^aiagent /)
  expect(installed).toHaveProperty([owner])
})

it.each(readdirSync(TEMPLATES))('[ADOPT-13] the README of the template %s names each tarball that is needed', name => {
  const folder = join(TEMPLATES, name)
  const [, list = ''] = /tarballs\/aiagent-\{([\w,]+)\}/.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? []
  const needed = new Set<string>()
  const add = ({ dependencies = {}, ...rest }: Partial<Manifest> & { peerDependencies?: Record<string, string> }) => {
    const { devDependencies = {}, peerDependencies = {} } = rest
    for (const each of Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })) {
      const short = each.replace('@aiagent/', '')
      if (short === each || needed.has(short)) continue
      needed.add(short)
      const { devDependencies: _, ...manifest } = manifestIn(join(ROOT, 'packages', short))
      add(manifest)
    }
  }
  add(manifestIn(folder))
  expect(list.split(',').toSorted()).toEqual([...needed].toSorted())
})
