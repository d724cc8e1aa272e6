import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { atMost, type Finding } from '../figure.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** What `import { AiAgent }` loads in a page: at once, and on demand; minified and compressed. */
export async function size(): Promise<Finding[]> {
  const { metafile, outputFiles } = await build({
    stdin: {
      contents: `import { AiAgent } from '@aiagent/client'\nglobalThis.AiAgent = AiAgent`,
      resolveDir: join(ROOT, 'bench'),
    },
    absWorkingDir: ROOT,
    outdir: 'size',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@aiagent/source'],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const kilobytes = (names: Iterable<string>) => {
    let bytes = 0
    for (const name of names) {
      const file = outputFiles.find(({ path }) => path === join(ROOT, name))
      if (!file) throw new Error(`The bundler gave no ${name}.`)
      bytes += gzipSync(file.contents, { level: 9 }).length
    }
    return bytes / 1000
  }
  const { outputs } = metafile
  const entry = Object.keys(outputs).find(name => outputs[name]?.entryPoint === '<stdin>')
  if (!entry) throw new Error('The bundler gave no entry.')
  const atOnce = loadedWith(outputs, entry)
  const findings: Finding[] = [
    { name: 'Core, min + gzip', value: kilobytes(atOnce), unit: 'kB', goal: atMost(15), note: 'loaded at once' },
  ]
  for (const [name, { entryPoint }] of Object.entries(outputs)) {
    if (!entryPoint || name === entry) continue
    const more = [...loadedWith(outputs, name)].filter(chunk => !atOnce.has(chunk))
    const part = entryPoint
      .split('/')
      .at(-1)
      ?.replace(/\.[^.]+$/, '')
    findings.push({ name: `Chunk ${part}, min + gzip`, value: kilobytes(more), unit: 'kB', note: 'loaded on demand' })
  }
  return [...findings, ...installSize()]
}

/** A file and all that it imports without being asked later. */
function loadedWith(outputs: Metafile['outputs'], name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const { path, kind, external } of outputs[name]?.imports ?? [])
    if (kind === 'import-statement' && !external) loadedWith(outputs, path, seen)
  return seen
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
