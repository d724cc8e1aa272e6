import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { replaceOnce } from '../bundle.ts'
import { PLANTED_BUGS } from './bugs.ts'

const ROOT = new URL('../../../../', import.meta.url)

/** That the campaign finds them is a step of `npm run verify`. */
describe('the planted bugs of the fault campaign', () => {
  it.each(PLANTED_BUGS.map(bug => [bug.title, bug] as const))(
    '[REL-117] have a place in the client: %s',
    (_title, bug) => {
      const source = readFileSync(new URL(bug.file, ROOT), 'utf8')
      expect(replaceOnce(source, bug)).not.toBe(source)
    },
  )

  it('[REL-117] are not planted where their place has changed', () => {
    const change = { name: 'a bug', file: 'a.ts', find: 'here', replace: 'there' }
    expect(replaceOnce('from here', change)).toBe('from there')
    expect(() => replaceOnce('gone', change)).toThrow('a.ts')
    expect(() => replaceOnce('here and here', change)).toThrow('occurs 2 times')
  })
})
