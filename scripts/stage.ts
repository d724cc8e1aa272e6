// Prepares packages as they are published: without what only this repository uses, and with a README whose links work where the
// package is installed.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { outsideOfBlocks } from '../docs/site/routes.ts'
import { ROOT } from './tools.ts'

/** Folder of the guide. */
const GUIDE = 'docs/guide'

/** What a package says about itself, as far as it is changed here. */
export interface Manifest {
  name: string
  version: string
  private?: boolean
  license?: string
  homepage?: string
  repository?: unknown
  files?: string[]
  [field: string]: unknown
}

/** Names of the folders in `packages` that are published. */
export function publishedPackages(): string[] {
  const folder = join(ROOT, 'packages')
  return readdirSync(folder).filter(name => {
    const manifest = join(folder, name, 'package.json')
    return existsSync(manifest) && !readManifest(manifest).private
  })
}

/** The manifest of a file. */
export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest
}

/**
 * Copies a built package as it is published to a folder.
 *
 * @returns the folder
 */
export function stagePackage(name: string, to: string): string {
  const from = join(ROOT, 'packages', name)
  const root = readManifest(join(ROOT, 'package.json'))
  const manifest = publishedManifest(readManifest(join(from, 'package.json')), root)
  const staged = join(to, name)
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(staged, { recursive: true })
  for (const file of [...(manifest.files ?? []).filter(entry => !entry.startsWith('!')), 'LICENSE'])
    cpSync(join(from, file), join(staged, file), { recursive: true })
  manifest.files?.push('sbom.cdx.json')
  // The guide is about the client, and is read where it is installed, by people and by their tools.
  const guide = name === 'client' ? readdirSync(join(ROOT, GUIDE)).filter(file => file.endsWith('.md')) : []
  if (guide.length > 0) manifest.files?.push('docs')
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(staged, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(manifest, staged), null, 2)}\n`)
  /** Where a file of the repository is in the package; undefined if it is not packed. */
  const locate = (path: string) => {
    const { dir, base } = posix.parse(path)
    if (dir === GUIDE && guide.includes(base)) return `docs/${base}`
    const own = posix.relative(`packages/${name}`, path)
    return statSync(join(staged, own), { throwIfNoEntry: false }) && !own.startsWith('..') ? own : undefined
  }
  const stageDocument = (path: string, packed: string) => {
    const markdown = readFileSync(join(ROOT, path), 'utf8')
    mkdirSync(join(staged, posix.dirname(packed)), { recursive: true })
    const linkTo = (target: string) => {
      const located = locate(target)
      return located && posix.relative(posix.dirname(packed), located)
    }
    writeFileSync(join(staged, packed), packedLinks(markdown, posix.dirname(path), linkTo, root.homepage))
  }
  for (const file of new Set([...readdirSync(staged).filter(each => each.endsWith('.md')), 'README.md']))
    stageDocument(`packages/${name}/${file}`, file)
  for (const file of guide) stageDocument(`${GUIDE}/${file}`, `docs/${file}`)
  return staged
}

/** What `npm sbom` writes, as far as it is read here. */
interface BillOfMaterials {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } }
  readonly components: readonly { readonly 'bom-ref': string }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * What a package consists of, in the form of CycloneDX: what is installed with it, and what is inside its bundles, of which the build
 * names the licences.
 */
function billOfMaterials({ name, version, license }: Manifest, staged: string): object {
  const format = ['--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=library']
  const output = execFileSync('npm', ['sbom', '--workspace', name, ...format], {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const bill = JSON.parse(output) as BillOfMaterials
  // npm names a package of this repository after its folder.
  const components = bill.components.map(each => ({ ...each, name: each['bom-ref'].replace(/(.)@.*/, '$1') }))
  const own = components.find(component => component.name === name)
  const licenses = readdirSync(join(staged, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.licenses.txt'))
    .flatMap(file => readFileSync(join(staged, 'dist', file), 'utf8').match(/^# \S+ [\d.]+\S*, .+$/gm) ?? [])
  const bundled = [...new Set(licenses)].map(line => {
    const [, part = '', of = '', id = ''] = /^# (\S+) (\S+), (.+)$/.exec(line) ?? []
    return {
      'bom-ref': `${part}@${of}|bundled`,
      type: 'library',
      name: part,
      version: of,
      licenses: [{ license: { id } }],
      purl: `pkg:npm/${part.replace('@', '%40')}@${of}`,
      properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }],
    }
  })
  return {
    ...bill,
    metadata: { ...bill.metadata, component: { ...own, version, licenses: [{ license: { id: license } }] } },
    components: [...components.filter(component => component !== own), ...bundled],
    // Without the folder of the repository.
    dependencies: bill.dependencies
      .filter(({ ref }) => ref !== bill.metadata.component['bom-ref'])
      .map(each =>
        each.ref === own?.['bom-ref']
          ? { ...each, dependsOn: [...each.dependsOn, ...bundled.map(part => part['bom-ref'])] }
          : each,
      ),
  }
}

/** Packs a staged package, and returns the path of the tarball. */
export function packStaged(staged: string, to: string): string {
  mkdirSync(to, { recursive: true })
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', to]
  const output = execFileSync('npm', args, { cwd: staged, encoding: 'utf8', shell: process.platform === 'win32' })
  const [packed] = JSON.parse(output) as { filename: string }[]
  if (!packed) throw new Error(`npm packs nothing in ${staged}.`)
  return join(to, packed.filename.replace('@', '').replace('/', '-'))
}

/** The manifest without sources and development, and with the address of the repository where the root names one. */
export function publishedManifest(manifest: Manifest, root: Manifest): Manifest {
  const { devDependencies: _, files = [], ...published } = withoutSources(manifest) as Manifest
  return {
    ...published,
    files: files.filter(entry => !/^!?src\b/.test(entry)),
    ...(root.repository !== undefined && {
      repository: { ...toRepository(root.repository), directory: `packages/${manifest.name.split('/')[1]}` },
    }),
    ...(root.homepage !== undefined && { homepage: root.homepage }),
    ...(root['bugs'] !== undefined && { bugs: root['bugs'] }),
  }
}

function toRepository(repository: unknown): object {
  return typeof repository === 'object' && repository !== null ? repository : { type: 'git', url: repository }
}

/** Removes the condition that leads to the sources, and the source files that have side effects. */
function withoutSources(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter(entry => typeof entry !== 'string' || !entry.startsWith('./src/')).map(withoutSources)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '@aiagent/source')
      .map(([key, entry]) => [key, withoutSources(entry)]),
  )
}

const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g

/**
 * A document with links that work where the package is installed.
 *
 * Links to packed files lead to them. Links to other files of the repository become absolute where its address is known; else their text
 * stays, with the path of the document in parentheses, and pictures are left out.
 *
 * @param folder of the document, from the root of the repository
 * @param linkTo the path, from the packed document, of a file of the repository, given from its root; undefined if it is not packed
 * @param homepage address of the repository
 */
export function packedLinks(
  markdown: string,
  folder: string,
  linkTo: (path: string) => string | undefined,
  homepage?: string,
): string {
  const replaced = (text: string) =>
    text.replace(LINK, (whole, picture: string, words: string, target: string) => {
      if (/^[a-z]+:/i.test(target) || target.startsWith('#')) return whole
      const [file = '', anchor] = target.split('#')
      const path = posix.join(folder, file)
      const packed = linkTo(path)
      if (packed !== undefined) return `${picture}[${words}](./${packed}${anchor ? `#${anchor}` : ''})`
      const [, otherPackage] = /^packages\/([\w-]+)\/README\.md$/.exec(path) ?? []
      if (homepage !== undefined)
        return `${picture}[${words}](${homepage.replace(/(?:#.*|\/)$/, '')}/blob/main/${path}${anchor ? `#${anchor}` : ''})`
      if (picture) return ''
      return otherPackage ? `${words} (\`@aiagent/${otherPackage}\`)` : `${words} (\`${path}\` in the repository)`
    })
  return outsideOfBlocks(markdown, replaced)
    .replace(/^<!-- (?:snippet|output|table|assumes): .+ -->\n/gm, '')
    .trimEnd()
    .concat('\n')
}
