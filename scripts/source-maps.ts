/*
 * Source maps as they are published. Rolldown writes a segment for each token; one for each line is enough to step and to read a
 * stack, and a quarter as large. The sources are inside, since the folder `src` is not published; docstrings, types and imports
 * are left out of them: the declarations hold those, and no line of the code comes from them. CommonJS files have the same code
 * as the modules beside them, and no map.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import ts from 'typescript'

const REFERENCE = /\n?\/\/# sourceMappingURL=.*\s*$/

/** Rewrites the source maps of a built package, and removes those of CommonJS and of declarations. */
export function trimSourceMaps(dist: string): void {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.map')) continue
    const mapFile = join(entry.parentPath, entry.name)
    const codeFile = mapFile.slice(0, -'.map'.length)
    if (!codeFile.endsWith('.js')) rmSync(mapFile)
    else {
      const map = JSON.parse(readFileSync(mapFile, 'utf8')) as SourceMapPayload
      writeFileSync(mapFile, JSON.stringify(lineMap(map, readFileSync(codeFile, 'utf8'))))
    }
  }
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !/\.[cm]?[jt]s$/.test(entry.name) || existsSync(`${file}.map`)) continue
    const code = readFileSync(file, 'utf8')
    if (REFERENCE.test(code)) writeFileSync(file, code.replace(REFERENCE, '\n'))
  }
}

/** A map with one segment for each line, and without what {@link onlyCode} leaves out. */
export function lineMap(map: SourceMapPayload, code: string): Omit<SourceMapPayload, 'file' | 'sourceRoot'> {
  const decoded = new SourceMap(map)
  const sourceIndex = new Map(map.sources.map((source, index) => [source, index]))
  let previous = { source: 0, line: 0, column: 0 }
  const mappings = code.split('\n').map((line, index) => {
    const found = decoded.findEntry(index, Math.max(0, line.search(/\S/)))
    if (!('originalSource' in found) || found.generatedLine !== index) return ''
    const source = sourceIndex.get(found.originalSource)
    if (source === undefined) return ''
    const next = { source, line: found.originalLine, column: found.originalColumn }
    const segment = [0, next.source - previous.source, next.line - previous.line, next.column - previous.column]
    previous = next
    return segment.map(encodeVlq).join('')
  })
  return {
    version: 3,
    sources: map.sources,
    sourcesContent: map.sourcesContent.map((content, index) => onlyCode(content, map.sources[index])),
    names: [],
    mappings: mappings.join(';').replace(/;+$/, ''),
  }
}

/** Empties docstrings, interfaces, type aliases, imports and re-exports; the lines keep their numbers. */
export function onlyCode(source: string, name = 'source.ts'): string {
  const file = ts.createSourceFile(name.replace(/\?.*/, ''), withoutDocstrings(source), ts.ScriptTarget.Latest)
  const { statements, text } = file
  let code = ''
  let end = 0
  for (const statement of statements.filter(hasNoCode)) {
    const start = statement.getStart(file)
    code += text.slice(end, start) + emptied(text.slice(start, statement.end))
    end = statement.end
  }
  return code + text.slice(end)
}

function hasNoCode(statement: ts.Statement): boolean {
  return (
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isImportDeclaration(statement) ||
    ts.isExportDeclaration(statement)
  )
}

function withoutDocstrings(source: string): string {
  return source.replace(/^[ \t]*\/\*\*(?:[^*]|\*(?!\/))*\*\/[ \t]*$/gm, emptied)
}

/** Only the ends of the lines. */
function emptied(text: string): string {
  return text.replace(/[^\n]+/g, '')
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A number as the source map format writes it: groups of five bits, the sign in the lowest bit. */
function encodeVlq(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1
  let text = ''
  do {
    const group = rest & 31
    rest >>>= 5
    text += DIGITS[rest > 0 ? group | 32 : group]
  } while (rest > 0)
  return text
}
