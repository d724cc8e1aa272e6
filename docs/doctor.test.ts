import { readFile } from 'node:fs/promises'
import { REMEDIES } from '@aiagent/client/doctor'
import { expect, it } from 'vitest'

it('docs/guide/doctor.md lists every problem of the doctor with its remedy', async () => {
  const guide = await readFile(new URL('./guide/doctor.md', import.meta.url), 'utf8')
  const listed = [...guide.matchAll(/^\| `([A-Z_]+)` \| (.+) \|$/gm)].map(([, code, remedy]) => [code, remedy])
  expect(listed).toEqual(Object.entries(REMEDIES))
})
