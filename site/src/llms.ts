// Texts for language models: an index of the pages, and all documents in one file.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { routeOf, type Section } from '../../docs/site/routes.ts'
import { PAGES } from './paths.ts'
import type { Page } from './prepare.ts'

/** Writes `llms.txt`, `llms-full.txt`, and each document of the guide as Markdown beside its page. */
export function writeTextsForModels(pages: readonly Page[], sections: readonly Section[]): void {
  const byRoute = new Map(pages.map(page => [page.route, page]))
  const index = sections.map(
    ({ title, pages: listed }) =>
      `## ${title}\n\n${listed.map(({ title: name, path, anchor, text }) => `- [${name}](./${routeOf(path)}.md${anchor}): ${text}`).join('\n')}\n`,
  )
  const head = '# AI Agent SDK\n\n> A TypeScript client for conversing with hosted AI agents, for browsers and Node.\n'
  publish('llms.txt', `${head}\n${index.join('\n')}`)
  const routes = new Set(sections.flatMap(section => section.pages).map(({ path }) => routeOf(path)))
  const listed = [...routes].flatMap(route => byRoute.get(route) ?? [])
  publish('llms-full.txt', `${head}\n${listed.map(({ text }) => plain(text)).join('\n\n')}\n`)
  for (const { route, text } of pages.filter(page => !page.route.includes('/'))) publish(`${route}.md`, plain(text))
}

/** Without the marks of copies, and without frames. */
function plain(text: string): string {
  return text
    .replace(/^<!-- .+ -->\n\n?/gm, '')
    .replace(/\n## Try it here\n[\s\S]*$/, '\n')
    .replace(/\]\(\/([\w-]+)(#[^)]*)?\)/g, '](./$1.md$2)')
}

function publish(name: string, text: string): void {
  writeFileSync(join(PAGES, 'public', name), text)
}
