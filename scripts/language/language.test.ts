import { describe, expect, it } from 'vitest'
import { ROOT } from '../tools.ts'
import { checkedFiles, findRefusedPhrases } from './language.ts'

const phrasesIn = (text: string) => findRefusedPhrases('file.ts', text).map(({ phrase }) => phrase)

describe('the check of the language', () => {
  it.each([
    ['The portals could not be had.', 'be had'], // language: quoted
    ['A token can be had later.', 'be had'], // language: quoted
    ['`auth` is no object', 'is no <noun>'], // language: quoted
    ['These are no lists.', 'is no <noun>'], // language: quoted
    ['Whoever calls it', 'whoever'], // language: quoted
    ['starts anew', 'anew'], // language: quoted
    ['It is likewise dropped.', 'likewise'], // language: quoted
    ["a store of the host's", "of the host's"], // language: quoted
    ['in a folder of its own.', 'of its own (as a tail)'], // language: quoted
    ['in a folder of its own', 'of its own (as a tail)'], // language: quoted
    ['The host is told of it.', 'told of'], // language: quoted
    ['returns what stands there', 'what stands'], // language: quoted
    ['none of its business', 'none of its business'], // language: quoted
    ['It arrives all the same.', 'all the same'], // language: quoted
    ['so that a listener has its way', 'has its way'], // language: quoted
    ['A session lies about.', 'lies about'], // language: quoted
    ['It stands in for those.', 'stands in for'], // language: quoted
    ['sent in clear', 'in clear'], // language: quoted
    ['waits for ever', 'for ever'], // language: quoted
    ['It takes the place of the first.', 'takes the place of'], // language: quoted
    ['The host hears of it.', 'hears of'], // language: quoted
    ['The attempt comes to nothing.', 'comes to nothing'], // language: quoted
    ['It fails, whereupon it is repeated.', 'whereupon'], // language: quoted
    ['It takes no notice of the answer.', 'takes no notice'], // language: quoted
    ['requested by whomever', 'by whomever'], // language: quoted
    ['`auth` is of no known form', 'is of no known form'], // language: quoted
  ])('[REL-32] refuses %j', (text, phrase) => {
    expect(phrasesIn(text)).toEqual([phrase])
    expect(phrasesIn(`${text} // language: quoted`)).toEqual([])
  })

  it.each([
    'There is no session.',
    'It is no longer sent.',
    'The answers are all the same.',
    'The agent of its own choice',
    '// It runs in a process of its own\n// folder.',
    'It told the host.',
    'a clear error in clearText',
    'The host app owns the store of the host.',
  ])('[REL-32] accepts %j', text => expect(phrasesIn(text)).toEqual([]))

  it.each([
    ['a block comment', '/**\n * The portals could not\n * be had.\n */', 3], // language: quoted
    ['a block comment, within the phrase', '/**\n * The portals could not be\n * had.\n */', 2],
    ['line comments', '// The name is\n// no address.', 1],
    ['a paragraph', '> It is\n> no address', 1],
    ['a joined string', `const text = 'It is ' +\n  'no address'`, 1],
  ])('[REL-32] finds a phrase that a line break in %s divides', (_where, text, line) => {
    expect(findRefusedPhrases('file.ts', text)).toEqual([expect.objectContaining({ line: line })])
  })

  it('[REL-32] names file, line and what to write instead', () => {
    const text = 'One.\n\nIt starts anew.' // language: quoted
    expect(findRefusedPhrases('docs/a.md', text)).toEqual([
      {
        file: 'docs/a.md',
        line: 3,
        phrase: 'anew', // language: quoted
        text: 'It starts anew.', // language: quoted
        reason: expect.stringContaining('Say'),
      },
    ])
  })

  it('[REL-32] covers source, tests and documents, and nothing that is generated or installed', () => {
    const files = checkedFiles(ROOT)
    expect(files).toEqual(expect.arrayContaining(['README.md', 'docs/decisions.md', 'packages/client/src/config.ts']))
    expect(files).toContain('packages/client/src/check-config.test.ts')
    expect(files.filter(file => /node_modules|dist\/|[.]api[.]md$/.test(file))).toEqual([])
  })
})
