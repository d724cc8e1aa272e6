// Writes the pages of the site: copies of the documents with links that lead to other pages, and files that the documents name.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { outsideOfBlocks, routeLinks, routeOf, type Section, sectionsOf } from '../../docs/site/routes.ts'
import { CONTENTS, PAGES, ROOT } from './paths.ts'

/** Documents beside those of the guide's table of contents; what they link to is added. */
const FURTHER = ['CHANGELOG.md', 'SECURITY.md', 'apps/playground/README.md', 'packages/client/README.md']

/** Pages that show the playground, with the sentence above it. */
const PLAYGROUND: Readonly<Record<string, string>> = {
  'docs/guide/getting-started.md': 'An agent of the emulator, which runs in this page. Ask it how to reset a router:',
  'docs/guide/delivery.md':
    'Take the network away in the tab of the faults, send a message, and watch what becomes of it:',
  'docs/guide/connection-and-queue.md': 'Cut the connection in the tab of the faults, and watch it come back:',
  'docs/guide/emulator.md': 'The emulator in this page, with its faults as buttons:',
  'docs/guide/events.md': 'Every event of a conversation, as it happens in this page:',
  'apps/playground/README.md': 'It runs in this page:',
}

/** The program that the home page shows. */
const HELLO = join(ROOT, 'examples', 'hello.ts')

/** The section of the site, read from the table of contents of the guide. */
export function guideSections(): Section[] {
  return sectionsOf(CONTENTS, readFileSync(join(ROOT, CONTENTS), 'utf8'))
}

/** A written page. */
export interface Page {
  readonly path: string
  readonly route: string
  readonly title: string
  readonly text: string
}

/** Writes all pages except those of the API, and returns the documents among them. */
export function preparePages(base: string): Page[] {
  rmSync(PAGES, { recursive: true, force: true })
  mkdirSync(join(PAGES, 'public'), { recursive: true })
  const sections = guideSections()
  const known = new Set([CONTENTS, ...sections.flatMap(({ pages }) => pages.map(({ path }) => path)), ...FURTHER])
  const waiting = [...known]
  const pages: Page[] = []
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const route = routeOf(path)
    if (path.endsWith('.md') && existsSync(join(ROOT, path))) {
      const page = preparePage(path, base)
      pages.push(page.page)
      write(`${route}.md`, page.page.text)
      for (const target of page.targets) {
        if (known.has(target)) continue
        known.add(target)
        waiting.push(target)
      }
    } else if (route.startsWith('pictures/')) {
      cpSync(join(ROOT, path), join(PAGES, 'public', route))
    } else write(`${route}.md`, filePage(path))
  }
  write('index.md', homePage(sections))
  return pages
}

function preparePage(path: string, base: string): { page: Page; targets: readonly string[] } {
  const markdown = readFileSync(join(ROOT, path), 'utf8')
  const isFolder = (target: string) => statSync(join(ROOT, target), { throwIfNoEntry: false })?.isDirectory() === true
  const { text, targets } = routeLinks(path, markdown, isFolder)
  const sentence = PLAYGROUND[path]
  const frame = sentence === undefined ? '' : `${sentence}\n\n${playgroundFrame(base)}`
  // Text between angle brackets and braces belongs to Vue otherwise.
  const safe = outsideOfBlocks(text, part => part.replaceAll('{{', '&#123;&#123;'))
  const [, title = path] = /^# (.+)$/m.exec(markdown) ?? []
  // On its own page it comes first, elsewhere after what it shows.
  const shown =
    path === 'apps/playground/README.md'
      ? safe.replace(/^(# .+\n\n)/, `$1${frame}\n`)
      : frame && `${safe}\n## Try it here\n\n${frame}`
  return { page: { path, route: routeOf(path), title: title.replaceAll('`', ''), text: shown || safe }, targets }
}

function playgroundFrame(base: string): string {
  const src = `${base.replace(/\/$/, '')}/live/index.html`
  return `<iframe class="playground" src="${src}" title="Playground: a chat with the emulator" loading="lazy"></iframe>\n`
}

/** A file that a document names: its text, or the names in a folder. */
function filePage(path: string): string {
  const head = `---\nsearch: false\noutline: false\n---\n\n`
  const folder = path.replace(/\/README\.md$/, '')
  if (!existsSync(join(ROOT, path))) {
    const names = readdirSync(join(ROOT, folder)).filter(name => !/^(?:node_modules|dist|\.)/.test(name))
    return `${head}# ${folder}\n\n${names.map(name => `- \`${name}\``).join('\n')}\n`
  }
  const text = readFileSync(join(ROOT, path), 'utf8').trimEnd()
  const fence = '`'.repeat(6)
  return `${head}# ${basename(path)}\n\n\`${path}\`\n\n${fence}${extname(path).slice(1)}\n${text}\n${fence}\n`
}

function homePage(sections: readonly Section[]): string {
  const features = sections.map(({ title, text, pages }) => ({
    title,
    details: text,
    link: `/${routeOf(pages[0]?.path ?? CONTENTS)}`,
  }))
  const front = {
    layout: 'home',
    hero: {
      name: 'AI Agent SDK',
      text: 'Converse with hosted AI agents',
      tagline: 'A TypeScript client for browsers and Node that keeps order, comes back, and loses nothing silently.',
      actions: [
        { theme: 'brand', text: 'Get started', link: '/getting-started' },
        { theme: 'alt', text: 'Playground', link: '/playground' },
        { theme: 'alt', text: 'API', link: '/api/' },
      ],
    },
    features,
  }
  const [, program = ''] = /#region main\n([\s\S]*?)\/\/ #endregion/.exec(readFileSync(HELLO, 'utf8')) ?? []
  // JSON is YAML.
  return `---\n${JSON.stringify(front)}\n---\n\n## In a program\n\n\`\`\`ts\n${program}\`\`\`\n`
}

function write(name: string, text: string): void {
  const file = join(PAGES, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
