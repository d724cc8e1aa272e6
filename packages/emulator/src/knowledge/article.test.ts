import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseArticle } from './article.ts'

describe('parseArticle', () => {
  it('reads title, address, keywords and related articles from the front matter', () => {
    const article = parseArticle(
      '---\ntitle: "Returns: how they work"\nurl: https://kb.example/returns\nkeywords: refund, money back\nrelated:\n  - warranty.md\n  - \'delivery.md\'\n# a remark\nauthor:\n  name: nobody\n---\n# Heading\n\nText.',
      'returns.md',
    )
    expect(article).toMatchObject({
      id: 'returns',
      title: 'Returns: how they work',
      url: 'https://kb.example/returns',
      keywords: ['refund', 'money back'],
      related: ['warranty.md', 'delivery.md'],
      body: '# Heading\n\nText.',
    })
  })

  it('reads lists in brackets', () => {
    expect(parseArticle('---\nkeywords: [a b, "c", ]\n---\nText', 'x.md').keywords).toEqual(['a b', 'c'])
  })

  it('uses the first heading as a missing title, and the file name as a missing heading and address', () => {
    expect(parseArticle('Some text.\n\n## First ##\n\nMore.', 'a/b.md')).toMatchObject({
      id: 'a/b',
      title: 'First',
      url: 'a/b.md',
    })
    expect(parseArticle('Some text.', 'sub/plain-file.MD')).toMatchObject({
      title: 'plain-file',
      url: 'sub/plain-file.MD',
    })
  })

  it('tolerates a byte order mark and line ends of other systems', () => {
    const article = parseArticle('\uFEFF---\r\ntitle: A\r\n---\r\n\r\nOne.\r\n\r\nTwo.\r\n', 'a.md')
    expect(article).toMatchObject({ title: 'A', body: 'One.\n\nTwo.', sections: [{ text: 'One.\n\nTwo.' }] })
  })

  it.each([
    ['never closed', '---\ntitle: A\n\nText.'],
    ['of another kind', '---\nSome prose between two rules.\n---\nText.'],
  ])('treats front matter that is %s as text', (_name, markdown) => {
    expect(parseArticle(markdown, 'a.md')).toMatchObject({ title: 'a', body: markdown })
  })

  it('splits the text at its headings, without empty pieces, the title and headings within code', () => {
    const { sections } = parseArticle(
      '# Title\n\nIntro.\n\n## Steps\n\n```sh\n# no heading\n```\n\n## Empty\n\n### Deep\n\nEnd.',
      'a.md',
    )
    expect(sections).toEqual([
      { text: 'Intro.' },
      { heading: 'Steps', text: '```sh\n# no heading\n```' },
      { heading: 'Deep', text: 'End.' },
    ])
  })

  it.each([
    ['# Title {#anchor}', 'Title'],
    ['A *Title*\n===', 'A Title'],
    ['A Title\n---', 'A Title'],
    ['# Use the `sorbet` **command** &amp; more', 'Use the sorbet command & more'],
    ['# [Returns](https://kb.example) &ndash; [how][1] <b>they</b> work ##', 'Returns \u2013 how they work'],
    ['# snake_case and 2 * 3 * 4, \\*not\\* ~~old~~ __new__', 'snake_case and 2 * 3 * 4, *not* old new'],
    ['````\n```\n# in code\n````\n# Title', 'Title'],
    ['```\n# in code\n``` no end\n```\n# Title', 'Title'],
    ['- item\n---\n# Title', 'Title'],
    ['| a |\n| --- |\n\n# Title', 'Title'],
  ])('[VIEW-51] reads the title of %j as plain text', (markdown, title) => {
    expect(parseArticle(`${markdown}\n\nText.\n\n[1]: https://kb.example/how`, 'a.md').title).toBe(title)
  })

  it('never throws, and always returns a title, for any text', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom('---', '...', 'title: x', '- item', '__proto__: y', '# H', '```', 'related: ['),
    )
    fc.assert(
      fc.property(
        fc.array(line).map(lines => lines.join('\n')),
        markdown => {
          expect(parseArticle(markdown, 'name.md').title.trim()).not.toBe('')
        },
      ),
    )
  })
})
