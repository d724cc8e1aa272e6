import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const STATIC_IMPORT = /^(?:import|export)\s(?!type\b)[^'"]*?from\s*'(\.[^']+)'/gms

/** The modules of the package that a module loads with its static imports, itself included, as absolute paths. */
export function staticModules(entry, found = new Set()) {
  if (found.has(entry)) return found
  found.add(entry)
  for (const [, path] of readFileSync(entry, 'utf8').matchAll(STATIC_IMPORT))
    staticModules(resolve(dirname(entry), path), found)
  return found
}
