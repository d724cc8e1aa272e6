import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { routeOf } from '../../docs/site/routes.ts'
import { PAGES, SITE } from '../src/paths.ts'
import { guideSections } from '../src/prepare.ts'

const API_SIDEBAR = join(PAGES, 'api', 'sidebar.json')

const guide = guideSections().map(({ title, pages }) => ({
  text: title,
  collapsed: false,
  items: pages.map(({ title: text, path, anchor }) => ({ text, link: `/${routeOf(path)}${anchor}` })),
}))
const api = existsSync(API_SIDEBAR) ? JSON.parse(readFileSync(API_SIDEBAR, 'utf8')) : []

export default defineConfig({
  title: 'AI Agent SDK',
  description: 'A TypeScript client for conversing with hosted AI agents',
  lang: 'en',
  base: process.env['SITE_BASE'] ?? '/',
  srcDir: PAGES,
  outDir: join(SITE, 'dist'),
  cacheDir: join(SITE, '.cache', 'vitepress'),
  srcExclude: ['public/**'],
  cleanUrls: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env['SITE_BASE'] ?? '/'}icon.svg` }]],
  // Names of files and of the API stand in the documents as code, not as elements.
  markdown: { lineNumbers: false, anchor: { slugify: anchorOf } },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // Pages for those who use the library come before those for people who change it. The function is copied into the page, so
        // that it uses nothing from outside.
        miniSearch: {
          searchOptions: {
            // Short words find too much else: "mode" would find "code", and "theme" would find "there".
            fuzzy: (term: string) => (term.length > 5 ? 0.2 : false),
            boost: { title: 6, titles: 3, text: 2 },
            boostDocument: (id: string) =>
              /\/(?:architecture|decisions|performance|faults|fleets|endurance|mutation|contributing|changelog|security|files\/|packages\/|protocol|specification)/.test(
                id,
              )
                ? 0.2
                : id.includes('/api/')
                  ? 0.5
                  : 1,
          },
        },
        // Of the API only names: its texts are many, and each search would load them. The keywords of a page, a comment that no reader
        // sees, are words that its text does not use.
        _render: (source, env, markdown) =>
          env.relativePath.startsWith('api/')
            ? markdown.render(/^# .+$/m.exec(source)?.[0] ?? '', env)
            : env.frontmatter?.search === false
              ? ''
              : markdown.render(source.replace(/^<!-- keywords: (.+) -->$/m, '$1'), env),
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide' },
      { text: 'Errors', link: '/errors' },
      { text: 'API', link: '/api/' },
      { text: 'Playground', link: '/playground' },
      { text: 'Changes', link: '/changelog' },
    ],
    sidebar: { '/api/': api, '/': [...guide, { text: 'Project', collapsed: true, items: project() }] },
  },
})

/** The anchor of a heading as on a code host, so that one link works in both places. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

function project(): { text: string; link: string }[] {
  return [
    { text: 'Architecture', link: '/architecture' },
    { text: 'Decisions', link: '/decisions' },
    { text: 'Performance', link: '/performance' },
    { text: 'Faults', link: '/faults' },
    { text: 'Security', link: '/security' },
    { text: 'Changes', link: '/changelog' },
  ]
}
