import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

/** Versions of React that the binding supports. */
export type ReactVersion = '18' | '19'

const FOLDERS = { '18': './react-18/', '19': './' }

/** Resolves the frameworks, which the root does not install, from this folder, for the sources of the bindings too. */
export function bindings(version: ReactVersion): Plugin {
  const importer = fileURLToPath(new URL(`${FOLDERS[version]}package.json`, import.meta.url))
  const sources = fileURLToPath(new URL('../../packages/', import.meta.url))
  return {
    name: 'bindings',
    enforce: 'pre',
    resolveId(source, from) {
      const isReact = /^react(?:-dom)?(?:\/|$)/.test(source)
      const isFramework = isReact || /^(?:vue|solid-js|@angular\/core)$/.test(source)
      if ((isReact && version === '18') || (isFramework && from?.startsWith(sources)))
        return this.resolve(source, importer, { skipSelf: true })
      const [, entry] = /^@aiagent\/react(?:\/([\w-]+))?$/.exec(source) ?? [source]
      return source.startsWith('@aiagent/react')
        ? fileURLToPath(new URL(`../../packages/react/src/${entry ?? 'index'}.ts`, import.meta.url))
        : undefined
    },
  }
}
