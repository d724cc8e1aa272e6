// Prepares packages as they are published: without what only this repository uses, and with a README whose links work where the
// package is installed.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { outsideOfBlocks } from '../docs/site/routes.ts'
import { ROOT } from './tools.ts'

/** What a package says about itself, as far as it is changed here. */
export interface Manifest {
  name: string
  version: string
  private?: boolean
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
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const isPacked = (path: string) => statSync(join(staged, path), { throwIfNoEntry: false }) !== undefined
  for (const document of [...readdirSync(staged), 'README.md'].filter(file => file.endsWith('.md'))) {
    const markdown = readFileSync(join(from, document), 'utf8')
    writeFileSync(join(staged, document), packedLinks(markdown, `packages/${name}`, isPacked, root.homepage))
  }
  return staged
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
 * Links to packed files stay. Links to other files of the repository become absolute where its address is known; else their text
 * stays, with the path of the document in parentheses, and pictures are left out.
 *
 * @param folder of the package, from the root of the repository
 * @param isPacked whether a path from the package is in the tarball
 * @param homepage address of the repository
 */
export function packedLinks(
  markdown: string,
  folder: string,
  isPacked: (path: string) => boolean,
  homepage?: string,
): string {
  const replaced = (text: string) =>
    text.replace(LINK, (whole, picture: string, words: string, target: string) => {
      if (/^[a-z]+:/i.test(target) || target.startsWith('#')) return whole
      const [file = '', anchor] = target.split('#')
      if (isPacked(posix.normalize(file))) return whole
      const path = posix.join(folder, file)
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
