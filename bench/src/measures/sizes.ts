import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { loadedSizes } from '../../../scripts/loaded-sizes.ts'
import { ROOT } from '../../../scripts/tools.ts'
import { atMost, type Finding } from '../figure.ts'

/** What `import { AiAgent }` loads in a page: at once, and on demand; minified and compressed. */
export async function size(): Promise<Finding[]> {
  const { atOnce, onDemand } = await loadedSizes(
    `import { AiAgent } from '@aiagent/client'\nglobalThis.AiAgent = AiAgent`,
  )
  const chunks = [...onDemand].map(([part, bytes]): Finding => {
    return { name: `Chunk ${part}, min + gzip`, value: bytes / 1000, unit: 'kB', note: 'loaded on demand' }
  })
  return [
    { name: 'Core, min + gzip', value: atOnce / 1000, unit: 'kB', goal: atMost(15), note: 'loaded at once' },
    ...chunks,
    ...installSize(),
  ]
}

/** Bytes on disk after an installation of the client: it, and everything that it depends on. */
function installSize(): Finding[] {
  if (!['client', 'protocol'].every(name => existsSync(join(ROOT, 'packages', name, 'dist')))) {
    console.warn('The size of an installation was not measured: run `npm run build` first.')
    return []
  }
  const parts = new Map<string, number>()
  const add = (name: string) => {
    if (parts.has(name)) return
    const own = /^@aiagent\/(.+)$/.exec(name)?.[1]
    const folder = own ? join(ROOT, 'packages', own) : join(ROOT, 'node_modules', name)
    parts.set(name, own ? packedBytes(folder) : folderBytes(folder))
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const dependency of Object.keys(dependencies)) add(dependency)
  }
  add('@aiagent/client')
  const total = [...parts.values()].reduce((sum, bytes) => sum + bytes, 0)
  const note = [...parts].map(([name, bytes]) => `${name} ${(bytes / 1e6).toFixed(2)}`).join(', ')
  return [{ name: 'Installed size', value: total / 1e6, unit: 'MB', note }]
}

function packedBytes(folder: string): number {
  const options = { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' } as const
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], options)
  const [packed] = JSON.parse(output) as { unpackedSize: number }[]
  if (!packed) throw new Error(`npm packs nothing in ${folder}.`)
  return packed.unpackedSize
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
