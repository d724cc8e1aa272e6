import { readdir, readFile } from 'node:fs/promises'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { entriesOf, exportedNames, isTypeName } from './exported-names.ts'

const ROOT = new URL('../../', import.meta.url)

/** How often the type tests of a package show a type accepting and rejecting something. */
interface Trials {
  accepted: number
  refused: number
}

describe.each(['packages/client', 'packages/protocol'])('the exports of %s', folder => {
  const everything = async () => (await entriesOf(folder)).flatMap(entry => [...exportedNames(entry).values()])

  it('have a docstring for every name', async () => {
    const names = await everything()
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter(({ isDocumented }) => !isDocumented).map(({ name }) => name)).toEqual([])
  })

  it('have type tests that show every type accepting and rejecting something', async () => {
    const trials = await trialsIn(`${folder}/src`)
    const types = (await everything()).filter(isTypeName).map(({ name }) => name)
    expect(types.length).toBeGreaterThan(0)
    expect(types.filter(name => !trials.get(name)?.accepted)).toEqual([])
    expect(types.filter(name => !trials.get(name)?.refused)).toEqual([])
  })
})

async function trialsIn(folder: string): Promise<Map<string, Trials>> {
  const files = await readdir(new URL(folder, ROOT), { recursive: true })
  const trials = new Map<string, Trials>()
  for (const file of files.filter(name => name.endsWith('.test-d.ts'))) {
    const text = await readFile(new URL(`${folder}/${file}`, ROOT), 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    for (const { name, statement } of typesUsedIn(source)) {
      // A directive precedes its statement or, where only a part is rejected, is inside it.
      const isRefusal = /@ts-expect-error|\.not\b/.test(statement.getFullText())
      const trial = trials.get(name) ?? { accepted: 0, refused: 0 }
      trial[isRefusal ? 'refused' : 'accepted']++
      trials.set(name, trial)
    }
  }
  return trials
}

/** Names of types, each with the statement that uses it. */
function typesUsedIn(node: ts.Node, statement?: ts.Statement): { name: string; statement: ts.Statement }[] {
  const around = ts.isExpressionStatement(node) ? (isGroup(node) ? undefined : node) : statement
  const uses: { name: string; statement: ts.Statement }[] = []
  if (around && ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName))
    uses.push({ name: node.typeName.text, statement: around })
  node.forEachChild(child => void uses.push(...typesUsedIn(child, around)))
  return uses
}

/** Whether a statement only groups others. */
function isGroup({ expression }: ts.ExpressionStatement): boolean {
  return ts.isCallExpression(expression) && ['describe', 'it'].includes(expression.expression.getText())
}
