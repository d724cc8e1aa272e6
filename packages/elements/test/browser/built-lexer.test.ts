import { fileURLToPath } from 'node:url'
import { lexMarkdown } from '@aiagent/protocol'
import { tests as examples } from 'commonmark-spec'
import { Lexer, type Token } from 'marked'
import { build } from 'tsdown'
import { beforeAll, describe, expect, it } from 'vitest'
import { costlyText, KINDS } from '../costly-texts.ts'
import { WRITTEN_ANSWERS } from '../written-answers.ts'

const ELEMENTS = fileURLToPath(new URL('../../', import.meta.url))
const TEXTS = [...examples.map(({ markdown }) => markdown), ...WRITTEN_ANSWERS]

type AnyLexer = typeof Lexer

/** Builds the elements as for hosts, with one further entry, and loads the lexer of each build. */
async function buildLexers(): Promise<AnyLexer[]> {
  const entry = { lexer: 'marked' }
  const builds = await build({ cwd: ELEMENTS, entry, write: false, dts: false, logLevel: 'silent' })
  return Promise.all(
    builds.map(async ({ chunks }) => {
      const files = new Map(chunks.map(chunk => [chunk.fileName, 'code' in chunk ? chunk.code : '']))
      const addressOf = (name: string): string => {
        const code = files
          .get(name)
          ?.replace(/(["'`])\.\/([\w.-]+)\1/g, (_, quote, file) => quote + addressOf(file) + quote)
        return `data:text/javascript;base64,${Buffer.from(code ?? '').toString('base64')}`
      }
      const built: { Lexer: AnyLexer } = await import(addressOf('lexer.js'))
      return built.Lexer
    }),
  )
}

describe('the lexer of the built elements', () => {
  let lexers: AnyLexer[]
  beforeAll(async () => {
    lexers = await buildLexers()
  })

  it('[EL-50] gives the same tokens as the package, for modules and for the script', () => {
    expect(examples.length).toBeGreaterThan(600)
    expect(WRITTEN_ANSWERS.length).toBe(200)
    expect(lexers.length).toBe(2)
    const lexer = (Each: AnyLexer) => new Each({ gfm: true, breaks: true })
    const all = (Each: AnyLexer) => [
      ...TEXTS.map(text => lexer(Each).lex(text)),
      // Without a bound some of these take seconds.
      ...KINDS.map(kind => lexMarkdown<Token>(lexer(Each), costlyText(kind, 4096)).tokens),
    ]
    const expected = all(Lexer).map(tokens => JSON.stringify(tokens))
    for (const Built of lexers)
      expect(
        all(Built).flatMap((tokens, at) => (JSON.stringify(tokens) === expected[at] ? [] : (TEXTS[at] ?? at))),
      ).toEqual([])
  })
})
