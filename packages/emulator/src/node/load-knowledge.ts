import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Article, parseArticle } from '../knowledge/article.ts'
import { findShippedFolder } from './shipped-folder.ts'

/**
 * Reads all Markdown articles (`.md`) of a folder and its sub-folders, in the order of their paths. Hidden folders and
 * `node_modules` are passed over.
 *
 * @param folder the help centre of the router shop that comes with this package by default
 * @throws {Error} when the folder does not exist, is not a folder, or holds no article; the message says what to do
 */
export async function loadKnowledge(folder?: string): Promise<Article[]> {
  const root = folder === undefined ? await findShippedFolder('knowledge') : resolve(folder)
  const found = await stat(root).catch((cause: unknown) => {
    throw new Error(`The folder of articles cannot be read: ${root}. Pass a folder that exists and holds .md files.`, {
      cause,
    })
  })
  if (!found.isDirectory())
    throw new Error(`Not a folder: ${root}. Pass the folder that holds the .md files, not a file.`)

  const fileNames = await listArticles(root)
  if (fileNames.length === 0) {
    throw new Error(
      `No article found in ${root}. Put at least one Markdown file ending in .md into it, or pass another folder.`,
    )
  }
  const articles: Article[] = []
  for (const fileName of fileNames) articles.push(parseArticle(await readFile(join(root, fileName), 'utf8'), fileName))
  return articles
}

/** Paths of the articles below a folder, with `/` between the names on every system. */
async function listArticles(root: string): Promise<string[]> {
  const paths: string[] = []
  const pending = ['']
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) pending.push(path)
      else if (/\.md$/i.test(entry.name)) paths.push(path)
    }
  }
  return paths.sort((a, b) => (a < b ? -1 : 1))
}
