// Checks the built site: every link and every anchor leads to something, and nothing is loaded from another machine.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'

const LINK = /<(\w+)\b[^>]*?\s(href|src)="([^"]*)"[^>]*>/g
const ID = /\sid="([^"]+)"/g
const LOADED = /url\(\s*["']?((?:https?:)?\/\/[^"')]+)|@import\s+["']((?:https?:)?\/\/[^"']+)/g

/** What the check found. */
export interface LinkReport {
  readonly pages: number
  readonly links: number
  /** Links to other sites; they are not opened. */
  readonly elsewhere: ReadonlySet<string>
  readonly problems: readonly string[]
}

/** Reads all files of a built site. */
export function checkLinks(dist: string, base: string): LinkReport {
  const files = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(dist, join(entry.parentPath, entry.name)).split(sep).join('/'))
  const pages = files.filter(file => file.endsWith('.html'))
  const anchors = new Map(pages.map(page => [page, idsOf(readFileSync(join(dist, page), 'utf8'))]))
  const problems: string[] = []
  const elsewhere = new Set<string>()
  let links = 0
  for (const page of pages) {
    for (const [, element = '', , raw = ''] of readFileSync(join(dist, page), 'utf8').matchAll(LINK)) {
      const target = raw.replaceAll('&amp;', '&')
      links++
      if (/^(?:[a-z]+:)?\/\//i.test(target)) {
        if (element === 'a') elsewhere.add(target)
        else problems.push(`${page}: <${element}> loads ${target} from another machine`)
        continue
      }
      if (/^(?:data|mailto|blob|tel):/.test(target)) continue
      const problem = problemOf(page, target)
      if (problem) problems.push(`${page}: ${problem}`)
    }
  }
  for (const file of files.filter(name => name.endsWith('.css')))
    for (const [, first, second] of readFileSync(join(dist, file), 'utf8').matchAll(LOADED))
      problems.push(`${file}: loads ${first ?? second} from another machine`)
  return { pages: pages.length, links, elsewhere, problems }

  function problemOf(page: string, target: string): string | undefined {
    const [address = '', anchor] = target.split('#')
    const path = decodeURI(address.replace(/\?.*$/, ''))
    const rooted = path.startsWith('/') ? path.slice(base.length) : posix.join(posix.dirname(page), path)
    if (path.startsWith('/') && !path.startsWith(base)) return `${target} is outside of the site`
    const file = path === '' ? page : fileOf(rooted)
    if (file === undefined) return `${target} leads nowhere`
    if (anchor && anchors.has(file) && !anchors.get(file)?.has(decodeURIComponent(anchor)))
      return `${target} names no anchor`
    return undefined
  }

  function fileOf(path: string): string | undefined {
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path
    return [name, `${name}.html`, `${name}/index.html`].find(
      file => existsSync(join(dist, file)) && statSync(join(dist, file)).isFile(),
    )
  }
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(ID)].map(([, id = '']) => id))
}
