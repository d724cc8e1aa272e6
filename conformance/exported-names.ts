import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** What a name stands for; one name can be a value and a type, as a class or a constant with its union is. */
export type ExportKind = 'class' | 'interface' | 'type' | 'value'

/** Whether a name can stand where a type does. */
export const isTypeName = (kinds: ReadonlySet<ExportKind> | undefined): boolean =>
  kinds !== undefined && (kinds.has('class') || kinds.has('interface') || kinds.has('type'))

export type ExportedNames = ReadonlyMap<string, ReadonlySet<ExportKind>>

const ROOT = new URL('../', import.meta.url)

/** Packages whose names another one hands on. */
const PACKAGES: Readonly<Record<string, URL>> = {
  '@aiagent/protocol': new URL('packages/protocol/src/index.ts', ROOT),
}

/** The names that a source file exports, with those that it hands on, read from the text: nothing is run or built. */
export function exportedNames(path: string | URL): ExportedNames {
  const file = typeof path === 'string' ? new URL(path, ROOT) : path
  const source = ts.createSourceFile(file.pathname, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  const names = new Map<string, Set<ExportKind>>()
  const add = (name: string, kinds: Iterable<ExportKind>) =>
    names.set(name, new Set([...(names.get(name) ?? []), ...kinds]))

  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement)) {
      if (!statement.moduleSpecifier || !ts.isStringLiteral(statement.moduleSpecifier)) continue
      const from = statement.moduleSpecifier.text
      const others = exportedNames(PACKAGES[from] ?? new URL(from, file))
      const { exportClause } = statement
      if (exportClause && ts.isNamedExports(exportClause))
        for (const { name, propertyName } of exportClause.elements) {
          const kinds = others.get((propertyName ?? name).text)
          if (!kinds) throw new Error(`${from} exports no ${name.text}.`)
          add(name.text, kinds)
        }
      else for (const [name, kinds] of others) add(name, kinds)
    } else if (isExported(statement)) {
      for (const [name, kind] of declared(statement)) add(name, [kind])
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
