import { describe, expect, it } from 'vitest'
import { anchorsOf, localLinks } from './links.ts'
import { regionOf, type SnippetSource, syncMarkdown } from './snippets.ts'

const source: SnippetSource = {
  readFile: async path => {
    if (path === 'hello.ts') return 'import a\n// #region main\n\nrun()\n// #endregion\n\nend()\n'
    throw new Error('no such file')
  },
  runCommand: async command => `$ ${command}\n`,
  table: name => `| ${name} |`,
}

const block = (marker: string, body: string, language = 'ts') => `${marker}\n\`\`\`${language}\n${body}\n\`\`\``

describe('syncMarkdown', () => {
  it.each([
    ['a region', '<!-- snippet: hello.ts main -->', 'run()'],
    ['a whole file without its region marks', '<!-- snippet: hello.ts -->', 'import a\n\nrun()\n\nend()'],
    ['the output of a command', '<!-- output: hello --loud -->', '$ hello --loud'],
  ])('copies %s into the block behind its marker', async (_, marker, copied) => {
    const { text, problems } = await syncMarkdown(`# A\n\n${block(marker, 'old')}\nend\n`, source, { strict: true })
    expect(text).toBe(`# A\n\n${block(marker, copied)}\nend\n`)
    expect(problems).toEqual([])
  })

  it('writes a table between its marks', async () => {
    const { text, problems } = await syncMarkdown('a\n<!-- table: x -->\nold\n<!-- end of table -->\nb', source, {
      strict: true,
    })
    expect(text).toBe('a\n<!-- table: x -->\n\n| x |\n\n<!-- end of table -->\nb')
    expect(problems).toEqual([])
    expect((await syncMarkdown('<!-- table: x -->\nold', source, { strict: true })).problems).toEqual([
      'line 1: the table does not end',
    ])
  })

  it('changes nothing the second time', async () => {
    const first = await syncMarkdown(block('<!-- snippet: hello.ts main -->\n', 'old'), source, { strict: true })
    expect(await syncMarkdown(first.text, source, { strict: true })).toEqual(first)
  })

  it.each([
    ['a file that is not there', block('<!-- snippet: gone.ts -->', 'old'), 'line 1: gone.ts: no such file'],
    ['a region that is not there', block('<!-- snippet: hello.ts x -->', ''), 'line 1: hello.ts: unknown region "x"'],
    ['a marker without a block', '<!-- snippet: hello.ts -->\ntext', 'line 1: no block follows the marker'],
    ['a marker at the end', '\n<!-- snippet: hello.ts -->\n', 'line 2: no block follows the marker'],
    ['a block without an end', 'a\n```ts\nx', 'line 2: the block does not end'],
  ])('reports %s and leaves the text as it is', async (_, markdown, problem) => {
    expect(await syncMarkdown(markdown, source, { strict: false })).toEqual({ text: markdown, problems: [problem] })
  })

  it('reports TypeScript without a marker only where it is strict', async () => {
    const markdown = block('text', 'a()')
    expect((await syncMarkdown(markdown, source, { strict: true })).problems).toHaveLength(1)
    expect((await syncMarkdown(markdown, source, { strict: false })).problems).toEqual([])
    expect((await syncMarkdown(block('text', 'ls', 'sh'), source, { strict: true })).problems).toEqual([])
  })

  it('treats a marker inside a block as text', async () => {
    const markdown = block('text', '<!-- snippet: gone.ts -->', 'md')
    expect(await syncMarkdown(markdown, source, { strict: true })).toEqual({ text: markdown, problems: [] })
  })
})

describe('regionOf', () => {
  it('removes the indentation that all lines have', () => {
    expect(regionOf('{\n    // #region a\n    if (b) {\n\n      c()\n    }\n    // #endregion\n}', 'a')).toBe(
      'if (b) {\n\n  c()\n}',
    )
  })

  it('ends at the first end mark after the start', () => {
    expect(regionOf('// #region a\n1\n// #endregion\n// #region b\n2\n// #endregion', 'b')).toBe('2')
  })
})

describe('links', () => {
  it('are found within the repository, outside of code blocks', () => {
    expect(localLinks('[a](./a.md#x) [b](https://b.example) `c`\n```md\n[d](./d.md)\n```\n[e](#e)')).toEqual([
      './a.md#x',
      '#e',
    ])
  })

  it('may name headings like Markdown renderers do', () => {
    expect([...anchorsOf('# A message, going out\n## `send()`\n## `send()`\n```sh\n# no heading\n```')]).toEqual([
      'a-message-going-out',
      'send',
      'send-1',
    ])
  })
})
