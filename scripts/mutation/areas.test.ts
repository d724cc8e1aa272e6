import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../tools.ts'
import { AREAS, toRegExp } from './areas.ts'

/** The paths of all test files of the packages, from the root. */
const testFiles = readdirSync(join(ROOT, 'packages'))
  .flatMap(name => [join('packages', name, 'src'), join('packages', name, 'test')])
  .filter(folder => existsSync(join(ROOT, folder)))
  .flatMap(folder => readdirSync(join(ROOT, folder), { recursive: true }).map(file => join(folder, String(file))))
  .map(file => file.replaceAll('\\', '/'))
  .filter(file => file.endsWith('.test.ts'))

/** The first two cells of each row of the table of scores: the area and its files. */
const rows = readFileSync(join(ROOT, 'docs', 'mutation.md'), 'utf8')
  .split('\n')
  .filter(line => /^\| [a-z-]+ \| `/.test(line))
  .map(line => {
    const [, area = '', files = ''] = line.split('|').map(cell => cell.trim())
    return { area, files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file.split('/').at(-1)) }
  })

describe.each(Object.entries(AREAS))('the area %s', (name, { files, tests, without = [] }) => {
  it('names files that exist', () => {
    expect(files.filter(file => !existsSync(join(ROOT, file)))).toEqual([])
    expect(files).not.toEqual([])
  })

  it('has tests', () => {
    const isLeftOut = (file: string) => without.some(pattern => toRegExp(pattern).test(file))
    const own = tests.flatMap(pattern => testFiles.filter(file => toRegExp(pattern).test(file) && !isLeftOut(file)))
    expect(own).not.toEqual([])
  })

  it('has one row in docs/mutation.md, which names its files', () => {
    expect(rows.filter(({ area }) => area === name)).toEqual([{ area: name, files: files.map(baseName) }])
  })
})

it('docs/mutation.md has no scores of other areas', () => {
  expect(rows.map(({ area }) => area).filter(area => !Object.hasOwn(AREAS, area))).toEqual([])
})

it('no file belongs to two areas', () => {
  const files = Object.values(AREAS).flatMap(area => area.files)
  expect(files.filter((file, index) => files.indexOf(file) !== index)).toEqual([])
})

function baseName(file: string): string | undefined {
  return file.split('/').at(-1)
}
