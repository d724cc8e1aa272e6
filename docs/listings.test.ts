import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { documents, listingsOf, markupOf } from './listings.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const listings = documents(root).flatMap(path =>
  listingsOf(readFileSync(join(root, path), 'utf8')).map(listing => ({ where: `${path}:${listing.line}`, ...listing })),
)
const pages = listings.filter(({ language }) => language === 'html')

/** What is wrong with markup: JSX has the same rules for tags and quotes as the HTML of these documents. */
function problemsOf(markup: string): string[] {
  const source = ts.createSourceFile('page.tsx', `<>${markup}</>`, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const { parseDiagnostics } = source as unknown as { parseDiagnostics: readonly ts.Diagnostic[] }
  return parseDiagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

/** Names of the attributes of an element's class, as its source lists them. */
function attributesOf(file: string): string[] {
  const source = readFileSync(join(root, 'packages', 'elements', 'src', file), 'utf8')
  const [, list = ''] = /observedAttributes = \[([^\]]+)\]/.exec(source) ?? []
  return [...list.matchAll(/'([\w-]+)'/g)].map(([, name = '']) => name)
}

describe('listings in the documents', () => {
  it.each(pages)('has well-formed HTML in $where', listing => {
    expect(problemsOf(markupOf(listing))).toEqual([])
  })

  it.each(pages)('uses only attributes that the elements have in $where', listing => {
    const known = { 'ai-agent-chat': attributesOf('chat-element.ts'), 'ai-agent-launcher': [] as string[] }
    known['ai-agent-launcher'] = [...known['ai-agent-chat'], ...attributesOf('launcher-element.ts')]
    expect(known['ai-agent-chat']).toContain('agent-id')
    for (const [, tag, attributes = ''] of markupOf(listing).matchAll(/<(ai-agent-(?:chat|launcher))\b([^>]*)>/g))
      for (const [, name] of attributes.matchAll(/\s([\w-]+)=/g))
        expect(known[tag as keyof typeof known], `<${tag}>`).toContain(name)
  })
})
