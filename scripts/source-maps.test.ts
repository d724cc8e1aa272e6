import { SourceMap } from 'node:module'
import { expect, it } from 'vitest'
import { lineMap, onlyCode } from './source-maps.ts'

it('a map by lines leads from each line to its source, over several sources and in both directions', () => {
  // Line 1 of the code is line 3 of the first source, and so on; written by hand as decoded segments below.
  const segments = [
    { source: 0, line: 2, column: 0 },
    { source: 1, line: 40, column: 2 },
    { source: 0, line: 5, column: 4 },
  ]
  const code = 'first()\n  second()\n\n    third()\n'
  const map = {
    file: 'index.js',
    version: 3,
    sources: ['../src/a.ts', '../src/b.ts'],
    sourcesContent: ['/** What a is. */\nconst a = 1\n', '// kept\nconst b = 2\n'],
    names: [],
    // Tokens: several segments in a line.
    mappings: 'AAEA,KAAK;ECsCH;;IDnCE',
    sourceRoot: '',
  }
  const decoded = new SourceMap({ ...map, ...lineMap(map, code) })
  const found = [0, 1, 3].map(line => {
    const entry = decoded.findEntry(line, 6)
    if (!('originalSource' in entry)) return undefined
    const { originalSource, originalLine, originalColumn } = entry
    return { source: map.sources.indexOf(originalSource), line: originalLine, column: originalColumn }
  })
  expect(found).toEqual(segments)
})

it('keeps the numbers of the lines where it leaves out docstrings', () => {
  const source = "/**\n * Two lines.\n */\nconst a = '/** text */'\n  /** One. */\n  b() // why\n"
  expect(onlyCode(source)).toBe("\n\n\nconst a = '/** text */'\n\n  b() // why\n")
})

it('leaves out types, imports and re-exports, and nothing else', () => {
  const source = [
    '// Why.',
    "import { type A, b } from './b.ts'",
    'export interface C {',
    '  readonly d: `import d`',
    '}',
    'type E =',
    '  | { kind: `interface F {}` }',
    '  | A // last',
    "export type { G } from './g.ts'",
    'const text = `',
    "import { b } from './b.ts'",
    'interface H {}',
    '`',
    'export class I implements C { d = text; e: E = b() }',
    "const load = () => import('./j.ts')",
    '',
  ]
  expect(onlyCode(source.join('\n')).split('\n')).toEqual([
    ...['// Why.', '', '', '', '', '', '', ' // last', ''],
    ...source.slice(9),
  ])
})
