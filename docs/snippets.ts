/*
 * Code blocks in Markdown that are copies of running code or its output. A comment before the block names the source:
 *
 *   <!-- snippet: examples/hello.ts main -->     the lines between `// #region main` and `// #endregion`, or the whole file
 *   <!-- output: npm start --silent -- --help --> what the command prints
 *
 * Text that is written from the tables of the code stands between `<!-- table: errors -->` and `<!-- end of table -->`.
 */

const MARKER = /^<!-- (snippet|output): (.+?) -->$/
const TABLE = /^<!-- table: (.+?) -->$/
const TABLE_END = '<!-- end of table -->'
const FENCE = /^(`{3,})(\S*)$/
const REGION_MARK = /^\s*\/\/ #(?:end)?region\b/

/** Reads the sources of markers. */
export interface SnippetSource {
  /** The text of a file; its path is relative to the root of the repository. */
  readFile(path: string): Promise<string>
  /** The output of a command. */
  runCommand(command: string): Promise<string>
  /** The text of a table, by its name. */
  table(name: string): string
}

export interface SyncedMarkdown {
  readonly text: string
  /** Problems, each with its line. */
  readonly problems: readonly string[]
}

/**
 * Replaces the content of each marked block by its source.
 *
 * @param options.strict blocks of TypeScript without a marker are problems
 */
export async function syncMarkdown(
  markdown: string,
  source: SnippetSource,
  options: { strict: boolean },
): Promise<SyncedMarkdown> {
  const lines = markdown.split('\n')
  const synced: string[] = []
  const problems: string[] = []
  let marker: { kind: string; target: string; line: number } | undefined
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const [, table] = TABLE.exec(line) ?? []
    if (table !== undefined) {
      const end = lines.indexOf(TABLE_END, index)
      if (end === -1) problems.push(`line ${index + 1}: the table does not end`)
      else {
        synced.push(line, '', ...source.table(table).split('\n'), '', TABLE_END)
        index = end
        continue
      }
    }
    const [, ticks, language] = FENCE.exec(line) ?? []
    if (ticks === undefined) {
      if (marker && line.trim() !== '') problems.push(`line ${marker.line}: no block follows the marker`)
      const [, kind, target] = MARKER.exec(line) ?? []
      if (line.trim() !== '') marker = kind && target ? { kind, target, line: index + 1 } : undefined
      synced.push(line)
      continue
    }
    const end = lines.indexOf(ticks, index + 1)
    if (end === -1) {
      problems.push(`line ${index + 1}: the block does not end`)
      synced.push(...lines.slice(index))
      return { text: synced.join('\n'), problems }
    }
    let body = lines.slice(index + 1, end)
    if (marker) {
      try {
        body = (await textOf(marker.kind, marker.target, source)).split('\n')
      } catch (error) {
        problems.push(`line ${marker.line}: ${error instanceof Error ? error.message : String(error)}`)
      }
    } else if (options.strict && language === 'ts') {
      problems.push(`line ${index + 1}: this TypeScript block is not a copy of a running file; give it a marker`)
    }
    synced.push(line, ...body, ticks)
    marker = undefined
    index = end
  }
  if (marker) problems.push(`line ${marker.line}: no block follows the marker`)
  return { text: synced.join('\n'), problems }
}

/** The text of a file, or of one of its regions, without region marks, outer blank lines and common indentation. */
export function regionOf(text: string, name: string | undefined): string {
  const lines = text.split('\n')
  let region = lines
  if (name !== undefined) {
    const start = lines.findIndex(line => line.trim() === `// #region ${name}`)
    const end = lines.findIndex((line, index) => index > start && line.trim() === '// #endregion')
    if (start === -1 || end === -1) throw new Error(`unknown region "${name}"`)
    region = lines.slice(start + 1, end)
  }
  const kept = region.filter(line => !REGION_MARK.test(line))
  const indents = kept.filter(line => line.trim() !== '').map(line => line.search(/\S/))
  const indent = Math.min(...indents)
  return kept
    .map(line => line.slice(indent))
    .join('\n')
    .replace(/^\n+|\s+$/g, '')
}

async function textOf(kind: string, target: string, source: SnippetSource): Promise<string> {
  if (kind === 'output') return (await source.runCommand(target)).trimEnd()
  const [path = '', region] = target.split(' ')
  try {
    return regionOf(await source.readFile(path), region)
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
