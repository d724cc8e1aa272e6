import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../tools.ts'
import { AREAS } from './areas.ts'

const files = Object.values(AREAS).flatMap(area => area.files)
const baseName = (file: string) => file.split('/').at(-1)

it('the areas name files that exist, each in one area', () => {
  expect(files.filter((file, index) => !existsSync(join(ROOT, file)) || files.indexOf(file) !== index)).toEqual([])
})

it('docs/mutation.md has one row for each area, which names its files', () => {
  const rows = [...readFileSync(join(ROOT, 'docs', 'mutation.md'), 'utf8').matchAll(/^\| ([a-z-]+) \| (`[^|]+) \|/gm)]
  const listed = rows.map(([, area = '', names = '']) => [
    area,
    [...names.matchAll(/`([^`]+)`/g)].map(([, file = '']) => baseName(file)),
  ])
  const expected = Object.entries(AREAS).map(([name, area]) => [name, area.files.map(baseName)])
  expect(listed.toSorted()).toEqual(expected.toSorted())
})
