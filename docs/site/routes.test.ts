import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { routeLinks, routeOf, sectionsOf } from './routes.ts'

const guide = new URL('../guide/', import.meta.url)

describe('routeOf', () => {
  it.each([
    ['docs/guide/errors.md', 'errors'],
    ['docs/logging.md', 'logging'],
    ['docs/guide/README.md', 'guide'],
    ['CHANGELOG.md', 'changelog'],
    ['packages/client/README.md', 'packages/client'],
    ['packages/protocol/PROTOCOL.md', 'protocol'],
    ['examples/hello.ts', 'files/examples/hello.ts'],
    ['bench/README.md', 'files/bench'],
    ['docs/guide/delivery.svg', 'pictures/docs-guide-delivery.svg'],
  ])('leads from %s to %s', (path, route) => expect(routeOf(path)).toBe(route))

  it('gives each document of the guide a separate address', async () => {
    const names = (await readdir(guide)).filter(name => name.endsWith('.md'))
    const others = (await readdir(new URL('../', guide))).filter(name => name.endsWith('.md'))
    const routes = [...names.map(name => `docs/guide/${name}`), ...others.map(name => `docs/${name}`)].map(routeOf)
    expect(new Set(routes).size).toBe(routes.length)
  })
})

describe('routeLinks', () => {
  it('leads links to addresses of the site, except those in blocks, to other sites and within the page', () => {
    const markdown =
      '[a](./errors.md#codes) ![b](delivery.svg) [c](../../bench) [d](https://d.test) [e](#e)\n```md\n[f](./f.md)\n```\n'
    const { text, targets } = routeLinks('docs/guide/events.md', markdown, path => path === 'bench')
    expect(text).toBe(
      '[a](/errors#codes) ![b](/pictures/docs-guide-delivery.svg) [c](/files/bench) [d](https://d.test) [e](#e)\n' +
        '```md\n[f](./f.md)\n```\n',
    )
    expect(targets).toEqual(['docs/guide/errors.md', 'docs/guide/delivery.svg', 'bench/README.md'])
  })
})

describe('the contents of the guide', () => {
  it('list every page once', async () => {
    const sections = sectionsOf('docs/guide/README.md', await readFile(new URL('README.md', guide), 'utf8'))
    const listed = sections.flatMap(({ pages }) => pages.filter(({ anchor }) => !anchor).map(({ path }) => path))
    const names = (await readdir(guide)).filter(name => name.endsWith('.md') && name !== 'README.md')
    expect(listed.filter(path => path.startsWith('docs/guide/')).sort()).toEqual(
      names.map(name => `docs/guide/${name}`).sort(),
    )
    expect(sections.map(({ title, text }) => [title, text]).filter(([, text]) => !text)).toEqual([])
  })

  it('join the lines of a description', () => {
    expect(sectionsOf('a/README.md', '# A\n\n## B\n\nWhy.\n\n- [`C`](./c.md): one\n  two\n')).toEqual([
      { title: 'B', text: 'Why.', pages: [{ title: 'C', path: 'a/c.md', anchor: '', text: 'one two' }] },
    ])
  })
})
