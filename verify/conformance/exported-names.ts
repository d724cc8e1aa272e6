import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import ts from 'typescript'

/** Kind of an export. */
export type ExportKind = 'class' | 'interface' | 'type' | 'value'

export interface ExportedName {
  readonly name: string
  /** Several if a name is both a value and a type, such as a constant with its union. */
  readonly kinds: ReadonlySet<ExportKind>
  /** Whether each of its declarations has a docstring. */
  readonly isDocumented: boolean
}

export type ExportedNames = ReadonlyMap<string, ExportedName>

const ROOT = new URL('../../', import.meta.url)

/** Packages whose names another package re-exports. */
const PACKAGES: Readonly<Record<string, URL>> = {
  '@aiagent/protocol': new URL('packages/protocol/src/index.ts', ROOT),
}

/** Whether a name can be used as a type. */
export const isTypeName = ({ kinds }: ExportedName): boolean =>
  kinds.has('class') || kinds.has('interface') || kinds.has('type')

/** Source files of a package's entry points. */
export async function entriesOf(folder: string): Promise<string[]> {
  const manifest = JSON.parse(await readFile(new URL(`${folder}/package.json`, ROOT), 'utf8'))
  const entries: unknown[] = Object.values(manifest.exports).map(entry => Object(entry)['@aiagent/source'])
  return entries.flatMap(entry => (typeof entry === 'string' ? [`${folder}/${entry}`] : []))
}

/** Names that a source file exports or re-exports, read from the text without running or building it. */
export function exportedNames(path: string | URL): ExportedNames {
  const file = typeof path === 'string' ? new URL(path, ROOT) : path
  const source = ts.createSourceFile(file.pathname, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const names = new Map<string, ExportedName>()
  const add = (name: string, { kinds, isDocumented }: Omit<ExportedName, 'name'>) => {
    const known = names.get(name)
    names.set(name, {
      name,
      kinds: new Set([...(known?.kinds ?? []), ...kinds]),
      isDocumented: isDocumented && known?.isDocumented !== false,
    })
  }

  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement)) {
      if (!statement.moduleSpecifier || !ts.isStringLiteral(statement.moduleSpecifier)) continue
      const from = statement.moduleSpecifier.text
      const others = exportedNames(PACKAGES[from] ?? new URL(from, file))
      const { exportClause } = statement
      if (exportClause && ts.isNamedExports(exportClause))
        for (const { name, propertyName } of exportClause.elements) {
          const other = others.get((propertyName ?? name).text)
          if (!other) throw new Error(`${from} does not export ${name.text}.`)
          add(name.text, other)
        }
      else for (const [name, other] of others) add(name, other)
    } else if (isExported(statement)) {
      const isDocumented = ts.getJSDocCommentsAndTags(statement).length > 0
      for (const [name, kind] of declared(statement)) add(name, { kinds: new Set([kind]), isDocumented })
    }
  }
  return names
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
}

function declared(statement: ts.Statement): [string, ExportKind][] {
  if (ts.isInterfaceDeclaration(statement)) return [[statement.name.text, 'interface']]
  if (ts.isTypeAliasDeclaration(statement)) return [[statement.name.text, 'type']]
  if (ts.isClassDeclaration(statement) && statement.name) return [[statement.name.text, 'class']]
  if (ts.isFunctionDeclaration(statement) && statement.name) return [[statement.name.text, 'value']]
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }): [string, ExportKind][] =>
      ts.isIdentifier(name) ? [[name.text, 'value']] : [],
    )
  return []
}
