const FENCED = /^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm
const LINK = /\]\(([^)\s]+)\)/g
const HEADING = /^#{1,6} (.+)$/gm

/** Links of a Markdown text to files in the repository, except those in code blocks. */
export function localLinks(markdown: string): string[] {
  return [...markdown.replace(FENCED, '').matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter(target => !/^[a-z]+:/i.test(target))
}

/** Anchors of the headings of a Markdown text. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of markdown.replace(FENCED, '').matchAll(HEADING)) {
    const name = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let anchor = name
    for (let count = 1; anchors.has(anchor); count++) anchor = `${name}-${count}`
    anchors.add(anchor)
  }
  return anchors
}
