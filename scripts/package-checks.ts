// Looks at packed packages: publint, are-the-types-wrong, and known vulnerabilities.
import { join } from 'node:path'
import { readManifest } from './stage.ts'
import { ownTool, run, runTogether } from './tools.ts'

/** A package as it would be published. */
export interface PackedPackage {
  /** Name of its folder in `packages`. */
  readonly name: string
  /** The staged folder. */
  readonly staged: string
  readonly tarball: string
}

type Exports = Readonly<Record<string, string | Readonly<Record<string, unknown>>>>

/** The entries of a package that are imported, and those that are loaded by address. */
export function entriesOf({ staged }: PackedPackage): {
  imported: string[]
  addressed: string[]
} {
  const { exports = {} } = readManifest(join(staged, 'package.json')) as { exports?: Exports }
  const entries = Object.entries(exports).filter(([path]) => path !== './package.json' && !path.includes('*'))
  const names = (isImported: boolean) =>
    entries.filter(([, target]) => (typeof target !== 'string') === isImported).map(([path]) => path)
  return {
    imported: names(true),
    addressed: names(false),
  }
}

/** Runs publint for each package, and are-the-types-wrong for each of its entries. */
export async function checkTarballs(packages: readonly PackedPackage[]): Promise<void> {
  const publint = packages.map(({ name, tarball }) => ({
    name: `publint of ${name}`,
    command: ownTool('publint'),
    args: ['run', tarball, '--strict'],
  }))
  const attw = packages.flatMap(packed => {
    const { imported, addressed } = entriesOf(packed)
    if (imported.length === 0) return []
    const excluded = addressed.length > 0 ? ['--exclude-entrypoints', ...addressed] : []
    const args = [packed.tarball, '--profile', 'esm-only', ...excluded]
    return [{ name: `attw of ${packed.name}`, command: ownTool('attw'), args }]
  })
  if (!(await runTogether([...publint, ...attw]))) throw new Error('A packed package is not as it should be.')
  const entries = packages.reduce((sum, packed) => sum + entriesOf(packed).imported.length, 0)
  console.log(`publint and are-the-types-wrong find nothing in ${packages.length} packages with ${entries} entries.`)
}

/** Asks the registry for known vulnerabilities of what a host installs. */
export async function audit(project: string): Promise<void> {
  const { code, output } = await run('npm', ['audit', '--omit=dev', '--json'], { cwd: project, capture: true })
  const { vulnerabilities, metadata } = parseReport(output)
  if (vulnerabilities === undefined) console.log('npm audit: not asked, since the registry does not answer.')
  else if (code !== 0) throw new Error(`npm audit finds vulnerabilities:\n${output}`)
  else console.log(`npm audit finds nothing in ${metadata?.dependencies?.total ?? 'the'} packages.`)
}

interface AuditReport {
  vulnerabilities?: object
  metadata?: { dependencies?: { total?: number } }
}

/** The report in what npm wrote; npm may write warnings before it. */
function parseReport(output: string): AuditReport {
  try {
    return JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)) as AuditReport
  } catch {
    return {}
  }
}
