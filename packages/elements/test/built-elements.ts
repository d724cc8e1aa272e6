import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

type Files = Readonly<Record<string, string>>

/** The files of the two builds for hosts, by name. */
export interface BuiltElements {
  /** For bundlers: modules that import the client, the view and preact. */
  readonly modules: Files
  /** For pages without a bundler: everything inside, in small. */
  readonly script: Files
}

const ELEMENTS = fileURLToPath(new URL('../', import.meta.url))
const MARKDOWN = 'test/markdown-of-build.ts'

let built: Promise<BuiltElements> | undefined

/** Builds the elements as for hosts, in memory; once for all test files of a thread. */
export const buildElements = (): Promise<BuiltElements> => (built ??= build({}))

async function build(options: { entry?: Files }): Promise<BuiltElements> {
  const tsdown = await import('tsdown')
  const builds = await tsdown.build({ cwd: ELEMENTS, ...options, write: false, dts: false, logLevel: 'silent' })
  const [modules = {}, script = {}] = builds.map(({ chunks }) =>
    Object.fromEntries(chunks.map(chunk => [chunk.fileName, 'code' in chunk ? chunk.code : ''])),
  )
  return { modules, script }
}

/** Gives the imports of a bundle the elements as built for bundlers, in place of their source. */
export const builtElements = (): Plugin =>
  inPlaceOfSource({ '@aiagent/elements': 'index.js', '@aiagent/elements/launcher': 'launcher.js' }, buildElements)

/** Gives the Markdown tests what the build makes of the modules that they test, and of the lexer. */
export function builtMarkdown(): Plugin {
  const modules = ['lex.ts', 'load-markdown.ts', 'nodes.tsx', 'plain-text.ts', 'shown-markdown.ts']
  let built: Promise<BuiltElements> | undefined
  return inPlaceOfSource(
    Object.fromEntries(['marked', ...modules.map(name => `./${name}`)].map(name => [name, 'markdown.js'])),
    () => (built ??= build({ entry: { markdown: MARKDOWN } })),
    /[\\/]src[\\/]markdown[\\/][\w-]+\.test\.ts$/,
  )
}

function inPlaceOfSource(names: Files, files: () => Promise<BuiltElements>, importers = /./): Plugin {
  // Bundlers name the file of an index after its folder.
  const folder = join(ELEMENTS, 'chat-element')
  return {
    name: `built-elements ${Object.keys(names)}`,
    enforce: 'pre',
    resolveId(name, importer = '') {
      if (importer.startsWith(folder) && name.startsWith('./')) return join(folder, name)
      const file = importers.test(importer) && names[name]
      return file ? join(folder, file) : undefined
    },
    load: async id => (id.startsWith(folder) ? (await files()).modules[basename(id)] : undefined),
  }
}
