import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { RULES } from './rules.ts'

it('SECURITY.md names existing rules in each row of what the library protects', async () => {
  const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8')
  const [, table = ''] = text.split('## What the library protects')
  const rows = (table.split('\n## ')[0] ?? '')
    .split('\n')
    .filter(line => line.startsWith('| '))
    .slice(1)
  expect(rows.length).toBeGreaterThan(8)
  for (const row of rows) expect(row.split('|').at(-2)).toMatch(/^ [A-Z]+-\d+(?:, [A-Z]+-\d+)* $/)
  const known = new Set(RULES.map(({ id }) => id))
  expect([...text.matchAll(/\b[A-Z]{2,}-\d+\b/g)].map(([id]) => id).filter(id => !known.has(id))).toEqual([])
})
