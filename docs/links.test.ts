import { describe, expect, it } from 'vitest'
import { anchorsOf, localLinks, unknownPaths } from './links.ts'

describe('links of a document', () => {
  it('finds links to files, except those in code blocks and to other sites', () => {
    const markdown = '[a](./a.md#b) [web](https://example.test)\n```md\n[c](./c.md)\n```\n'
    expect(localLinks(markdown)).toEqual(['./a.md#b'])
  })

  it('numbers equal headings', () => {
    expect([...anchorsOf('# One\n## Set `up`!\n## Set up\n')]).toEqual(['one', 'set-up', 'set-up-1'])
  })

  it('finds anchors in the text', () => {
    expect([...anchorsOf('# One\n| <a id="A.b"></a>`b` |\n```html\n<a id="c"></a>\n```\n')]).toEqual(['one', 'A.b'])
  })
})

describe('paths in a document', () => {
  const files = ['packages/client/src/agent/lifecycle.ts', 'packages/client/test/browser/login.test.ts', 'docs/a.md']

  it.each([
    'agent/lifecycle.ts',
    'lifecycle.ts',
    'packages/client/src/agent/',
    'packages/client/src/agent/*.ts',
    'packages/*/test/browser/**/*.test.ts',
    'packages/{client,cli}/src',
    'dist/index.ts',
    'npm run docs',
    'a/b',
  ])('accepts `%s`', path => expect(unknownPaths(`See \`${path}\`.`, files)).toEqual([]))

  it.each(['agent/lifecycles.ts', 'cycle.ts', 'packages/client/src/agents', 'docs/b.md', 'scripts/*.ts'])(
    'reports `%s`',
    path => expect(unknownPaths(`See \`${path}\`.`, files)).toEqual([path]),
  )
})
