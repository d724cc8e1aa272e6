import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadKnowledge } from './load-knowledge.ts'

describe('loadKnowledge', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'knowledge-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('loads the included help center by default', async () => {
    const articles = await loadKnowledge()
    expect(articles.map(({ id }) => id)).toContain('reset')
  })

  it('reads Markdown files of all sub-folders, sorted by path, and nothing else', async () => {
    await mkdir(join(folder, 'b', 'deep'), { recursive: true })
    await mkdir(join(folder, '.git'))
    await mkdir(join(folder, 'node_modules'))
    for (const name of ['z.md', 'a.MD', 'notes.txt', 'b/two.md', 'b/deep/one.md', '.git/x.md', 'node_modules/y.md']) {
      await writeFile(join(folder, name), `Text of ${name}`)
    }
    const articles = await loadKnowledge(folder)
    expect(articles.map(({ url }) => url)).toEqual(['a.MD', 'b/deep/one.md', 'b/two.md', 'z.md'])
    expect(articles[1]?.body).toBe('Text of b/deep/one.md')
  })

  it('reports what to do when the folder does not exist, is a file, or contains no article', async () => {
    await writeFile(join(folder, 'notes.txt'), 'no article')
    await expect(loadKnowledge(join(folder, 'gone'))).rejects.toThrow(
      /cannot be read: .*gone.*Pass a folder that exists/,
    )
    await expect(loadKnowledge(join(folder, 'notes.txt'))).rejects.toThrow(
      /Not a folder: .*notes\.txt.*Pass the folder/,
    )
    await expect(loadKnowledge(folder)).rejects.toThrow(/No article found in .*Put at least one Markdown file/)
  })
})
