import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Path of a file of the repository. */
export const repositoryFile = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

/**
 * Replaces the part of a document between `<!-- name -->` and `<!-- end of name -->`.
 *
 * @throws {Error} when the document has no such part
 */
export function replaceBlock(path: string, name: string, content: string): void {
  const file = repositoryFile(path)
  const document = readFileSync(file, 'utf8')
  const block = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(\n<!-- end of ${name} -->)`)
  if (!block.test(document)) throw new Error(`${path} has no part <!-- ${name} -->.`)
  writeFileSync(
    file,
    document.replace(block, (_, begin: string, end: string) => begin + content + end),
  )
}
