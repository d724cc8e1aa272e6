import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/*
 * Blocks of JavaScript and HTML in the documents that are not copies of programs. `npm run types` compiles them with the whole tree.
 * A comment before the block declares, as TypeScript, what the block takes for granted:
 *
 *   <!-- assumes: declare const endpoint: string -->
 */

/** A block of a document. */
export interface Listing {
  readonly language: 'js' | 'html'
  readonly code: string
  /** Declarations of what it takes for granted. */
  readonly assumes: string
  /** Line of the document, from 1. */
  readonly line: number
}

const BLOCK = /(?:^<!-- assumes: (.+) -->\n\n?)?^```(js|html)\n([\s\S]*?)^```$/gm
const INLINE_SCRIPT = /(<script\b(?![^>]*\bsrc=)[^>]*>)([\s\S]*?)(<\/script>)/g
/** A value with its type, of which the listing leaves fields out. */
const EXCERPT = /\/\*\* @type \{(.+)\} \*\/\n((?:export )?const \w+ = \{\n[\s\S]*?^\})/gm

/** The JavaScript and HTML of a document. */
export function listingsOf(markdown: string): Listing[] {
  return [...markdown.matchAll(BLOCK)].map(({ 0: block, 1: assumes = '', 2: language, 3: code = '', index }) => ({
    language: language === 'html' ? 'html' : 'js',
    code,
    assumes,
    line: (markdown.slice(0, index) + block.slice(0, block.indexOf('```'))).split('\n').length,
  }))
}

/** The modules in a listing, as TypeScript: the code itself, or the inline scripts of HTML. */
export function modulesOf({ language, code, assumes }: Listing): string[] {
  const sources = language === 'js' ? [code] : [...code.matchAll(INLINE_SCRIPT)].map(([, , script = '']) => script)
  return sources.map(source => {
    const typed = source.includes('…') ? source.replaceAll(EXCERPT, '$2 satisfies Partial<$1> as $1') : source
    return `${assumes}\nexport {}\n${typed}`
  })
}

/** The HTML of a listing, with its inline scripts left empty. */
export function markupOf({ code }: Listing): string {
  return code.replaceAll(INLINE_SCRIPT, '$1$3')
}

/** Paths of all Markdown files of the repository, from its root, except articles and installed or built ones. */
export function documents(root: string): string[] {
  const packages = readdirSync(join(root, 'packages')).map(name => `packages/${name}`)
  return ['', 'docs', 'docs/guide', 'examples', ...packages].flatMap(folder =>
    readdirSync(join(root, folder))
      .filter(name => name.endsWith('.md'))
      .map(name => posix.join(folder, name)),
  )
}

/** Writes each module of the listings into a folder, named after its document and line, or as its first line says: `// fr.js`. */
export function writeListings(root: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  for (const path of documents(root))
    for (const listing of listingsOf(readFileSync(join(root, path), 'utf8')))
      for (const [index, module] of modulesOf(listing).entries()) {
        const folder = join(to, path.replaceAll(/[\\/]/g, '-'))
        const [, name = `line-${listing.line}-${index}`] = /^\/\/ ([\w-]+)\.js$/m.exec(listing.code) ?? []
        mkdirSync(folder, { recursive: true })
        writeFileSync(join(folder, `${name}.ts`), module)
      }
}
