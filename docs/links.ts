/** A block of code with its fences. */
export const FENCED = /^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm
const LINK = /\]\(([^)\s]+)\)|\s(?:src|srcset)="([^"\s]+)"/g
const HEADING = /^#{1,6} (.+)$/gm

/** Links of a Markdown text to files in the repository, and its pictures, also those in HTML; except those in code. */
export function localLinks(markdown: string): string[] {
  return [...markdown.replace(FENCED, '').replace(CODE_SPAN, '').matchAll(LINK)]
    .map(([, target, picture = '']) => target ?? picture)
    .filter(target => !/^[a-z]+:/i.test(target))
}

const ANCHOR = /<a id="([^"]+)"><\/a>/g

/** Anchors of the headings of a Markdown text, and those that stand in it as `<a id="…"></a>`. */
export function anchorsOf(markdown: string): Set<string> {
  const text = markdown.replace(FENCED, '')
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.matchAll(HEADING)) {
    const name = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let anchor = name
    for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`
    anchors.add(anchor)
  }
  for (const [, id = ''] of text.matchAll(ANCHOR)) anchors.add(id)
  return anchors
}

const CODE_SPAN = /`([^`\n]+)`/g
const FOLDERS = /^(?:packages|apps|verify|examples|docs|scripts|site|tools)\//
/** A file of the source, or a path from the root. `*` and braces match any characters. */
const PATH = /^[\w.@*{},/-]+$/

/**
 * Paths in the code spans of a Markdown text that name no file or folder.
 *
 * Checked are paths from the root, and TypeScript files by the end of their path: `agent/lifecycle.ts`.
 *
 * @param files all files of the repository, from its root
 */
export function unknownPaths(markdown: string, files: readonly string[]): string[] {
  const spans = [...markdown.replace(FENCED, '').matchAll(CODE_SPAN)].map(([, span = '']) => span)
  return [...new Set(spans)].filter(span => {
    if (!PATH.test(span) || span.includes('dist/') || span.includes('node_modules')) return false
    const isFromRoot = FOLDERS.test(span)
    if (!isFromRoot && !/[\w*}]\.ts$/.test(span)) return false
    const end = span
      .replace(/\/$/, '')
      .replace(/[.]/g, '\\.')
      .replace(/\*\*\/|\*|\{[^}]*\}/g, '.*')
    const expression = new RegExp(`${isFromRoot ? '^' : '(?:^|/)'}${end}(?:/|$)`)
    return !files.some(file => expression.test(file))
  })
}
