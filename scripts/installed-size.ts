import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stagePackage } from './stage.ts'
import { ROOT } from './tools.ts'

/** Bytes on disk after an installation of the client, by package: it, and everything it depends on. Needs the build. */
export function installedSizes(): ReadonlyMap<string, number> {
  const parts = new Map<string, number>()
  const add = (name: string) => {
    if (parts.has(name)) return
    const own = /^@aiagent\/(.+)$/.exec(name)?.[1]
    const folder = own ? join(ROOT, 'packages', own) : join(ROOT, 'node_modules', name)
    parts.set(name, folderBytes(own ? stagePackage(own, join(ROOT, '.cache', 'packed')) : folder))
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const dependency of Object.keys(dependencies)) add(dependency)
  }
  add('@aiagent/client')
  return parts
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
