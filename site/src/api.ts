// Writes the reference of the public API from the sources, and finds members without a docstring.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Application,
  Comment,
  type DeclarationReflection,
  type ProjectReflection,
  ReflectionGroup,
  ReflectionKind,
} from 'typedoc'
import { PAGES, ROOT, SITE } from './paths.ts'

/** The entries of a package: its source files by the name under which a host imports them. */
export function entriesOf(packageName: string): [entry: string, source: string][] {
  const folder = join(ROOT, 'packages', packageName)
  const { name, exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    exports?: Readonly<Record<string, string | Readonly<Record<string, unknown>>>>
  }
  return Object.entries(exports).flatMap(([path, target]) => {
    const source = typeof target === 'object' ? target['@aiagent/source'] : undefined
    return typeof source === 'string' ? [[name + path.slice(1), join(folder, source)]] : []
  })
}

/** What the reference says about the docstrings. */
export interface ApiReport {
  /** Number of names and members that need a docstring. */
  readonly count: number
  /** Those without one. */
  readonly undocumented: readonly string[]
}

/** Writes a page for each public name. */
export async function writeApi(packages: readonly string[]): Promise<ApiReport> {
  const entries = packages.flatMap(entriesOf)
  const app = await Application.bootstrapWithPlugins({
    entryPoints: entries.map(([, source]) => source),
    basePath: ROOT,
    displayBasePath: ROOT,
    tsconfig: join(SITE, 'tsconfig.api.json'),
    plugin: ['typedoc-plugin-markdown'],
    name: 'API',
    readme: 'none',
    // The compiler has checked them already.
    skipErrorChecking: true,
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    disableSources: true,
    validation: false,
    suppressCommentWarningsInDeclarationFiles: true,
    logLevel: 'Error',
    outputs: [{ name: 'markdown', path: join(PAGES, 'api') }],
    ...({ entryFileName: 'index', indexFormat: 'table', hidePageHeader: true, hideBreadcrumbs: true } as object),
  })
  const project = await app.convert()
  if (!project) throw new Error('TypeDoc could not read the sources.')
  nameModules(project, entries)
  for (const module of project.children ?? []) {
    describe(module)
    setApart(module)
  }
  await app.generateOutputs(project)
  if (app.logger.hasErrors()) throw new Error('TypeDoc reports errors.')
  writeFileSync(join(PAGES, 'api', 'sidebar.json'), JSON.stringify(sidebar(project, app)))
  return reportOf(project)
}

/** Modules have the names under which hosts import them. */
function nameModules(project: ProjectReflection, entries: readonly [string, string][]): void {
  const names = new Map(entries.map(([name, source]) => [source, name]))
  for (const module of project.children ?? []) {
    const file = project.files.getReflectionPath?.(module) ?? ''
    const name = names.get(file)
    if (name === undefined) throw new Error(`The module ${module.name} (${file}) is not an entry.`)
    module.name = name
  }
}

/** The main module of a package says what the package is for. */
function describe(module: DeclarationReflection): void {
  const [, folder = '', path] = module.name.split('/')
  if (path !== undefined) return
  const manifest = readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')
  const { description } = JSON.parse(manifest) as { description: string }
  module.comment = new Comment([{ kind: 'text', text: `${description}.` }])
}

/** Kinds of names that a program uses; types are reached from them. */
const USED = ReflectionKind.Class | ReflectionKind.Function | ReflectionKind.Variable

/** All that hosts are told and shown. */
const TOLD = new Set(
  ['README.md', 'docs/guide', 'examples']
    .map(path => join(ROOT, path))
    .flatMap(path => (path.endsWith('.md') ? [path] : filesIn(path)))
    .flatMap(path => readFileSync(path, 'utf8').match(/\w+/g) ?? []),
)

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(?:md|tsx?|html)$/.test(name) && !name.includes('node_modules'))
    .map(name => join(folder, name))
}

/** Names that neither the guide nor an example mentions, since the library uses them by itself, come last, as a group. */
function setApart(module: DeclarationReflection): void {
  const isApart = (one: { kind: ReflectionKind; name: string }) => (one.kind & USED) !== 0 && !TOLD.has(one.name)
  const apart = new ReflectionGroup('Beyond the guide', module)
  apart.description = [
    { kind: 'text', text: 'Public, but most hosts need none of these: the library uses them by itself.' },
  ]
  for (const group of module.groups ?? []) {
    apart.children.push(...group.children.filter(isApart))
    group.children = group.children.filter(one => !isApart(one))
  }
  module.groups = [...(module.groups ?? []), apart].filter(({ children }) => children.length > 0)
}

function sidebar(project: ProjectReflection, app: Application): object[] {
  const link = (reflection: DeclarationReflection) =>
    `/api/${app.renderer.router?.getFullUrl(reflection) ?? ''}`.replace(/(?:index)?\.md$/, '')
  return (project.children ?? []).map(module => ({ text: module.name, link: link(module) }))
}

/** Kinds that need a docstring: each module, each public name, and each member of it. */
const DOCUMENTED =
  ReflectionKind.Module |
  ReflectionKind.Variable |
  ReflectionKind.Function |
  ReflectionKind.Class |
  ReflectionKind.Interface |
  ReflectionKind.TypeAlias |
  ReflectionKind.Property |
  ReflectionKind.Method |
  ReflectionKind.Accessor

function reportOf(project: ProjectReflection): ApiReport {
  const undocumented: string[] = []
  let count = 0
  for (const reflection of project.getReflectionsByKind(DOCUMENTED) as DeclarationReflection[]) {
    // What is inherited is documented where it is declared, and what stands in a literal type belongs to its name.
    if (reflection.inheritedFrom || isInLiteral(reflection)) continue
    count++
    if (!hasComment(reflection)) undocumented.push(reflection.getFriendlyFullName())
  }
  return { count, undocumented }
}

function isInLiteral(reflection: DeclarationReflection): boolean {
  for (let parent = reflection.parent; parent; parent = parent.parent)
    if (parent.kindOf(ReflectionKind.TypeLiteral) || parent.kindOf(ReflectionKind.SomeSignature)) return true
  return false
}

function hasComment(reflection: DeclarationReflection): boolean {
  const { comment, signatures = [], getSignature, setSignature, type } = reflection
  const inner = type?.type === 'reflection' ? (type.declaration.signatures ?? []) : []
  const all = [
    ...signatures,
    ...inner,
    ...(getSignature ? [getSignature] : []),
    ...(setSignature ? [setSignature] : []),
  ]
  return comment !== undefined || all.some(signature => signature.comment !== undefined)
}
