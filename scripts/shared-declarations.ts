/*
 * One set of declarations for both kinds of modules. The bundler writes them twice, with the same content; half of it is enough,
 * since an ES module can export what a CommonJS one declares. A host that loads the package both ways has one type of each class.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Lets the entries of a built package export the declarations of CommonJS. Without those nothing changes. */
export function shareDeclarations(dist: string): void {
  const commonJs = (name: string) => name.replace(/\.d\.ts$/, '.d.cts')
  const names = readdirSync(dist).filter(name => name.endsWith('.d.ts'))
  // The names of shared chunks differ, since each contains a hash.
  const entries = names.filter(name => existsSync(join(dist, commonJs(name))))
  if (entries.length === 0) return
  for (const name of names) {
    if (!entries.includes(name)) rmSync(join(dist, name))
    else if (/\bas default\b|\bexport default\b/.test(readFileSync(join(dist, name), 'utf8')))
      throw new Error(`${name} has a default export, which it would lose.`)
    else writeFileSync(join(dist, name), `export * from './${name.replace(/\.d\.ts$/, '.cjs')}'\n`)
  }
}
