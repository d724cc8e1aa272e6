import { stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/**
 * Finds a folder that the package contains beside its code, which runs from `src/` or, built, from `dist/`.
 *
 * @throws {Error} when it is missing, as where the code was bundled into another file
 */
export async function findShippedFolder(name: string): Promise<string> {
  const start = dirname(fileURLToPath(import.meta.url))
  for (let folder = start; ; folder = dirname(folder)) {
    const candidate = join(folder, name)
    if ((await exists(join(folder, 'package.json'))) && (await exists(candidate))) return candidate
    if (folder === dirname(folder)) throw new Error(`The folder "${name}" was not found above ${start + sep}.`)
  }
}
