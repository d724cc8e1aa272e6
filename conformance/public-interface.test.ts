import { readdir, readFile } from 'node:fs/promises'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { entriesOf, exportedNames, isTypeName } from './exported-names.ts'

const ROOT = new URL('../', import.meta.url)

/** What a package's type tests try with a type: how often it takes something, and how often it refuses. */
interface Trials {
  accepted: number
  refused: number
}

describe.each(['packages/client', 'packages/protocol'])('what %s exports', folder => {
  const everything = async () => (await entriesOf(folder)).flatMap(entry => [...exportedNames(entry).values()])

  it('says of every name what it is for', async () => {
    const names = await everything()
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter(({ isDocumented }) => !isDocumented).map(({ name }) => name)).toEqual([])
  })

  it('has type tests that show of every type something that it takes and something that it refuses', async () => {
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
      // A directive stands before its statement or, where only a part of it is refused, inside.
      const isRefusal = /@ts-expect-error|\.not\b/.test(statement.getFullText())
      const trial = trials.get(name) ?? { accepted: 0, refused: 0 }
      trial[isRefusal ? 'refused' : 'accepted']++
      trials.set(name, trial)
    }
  }
  return trials
}

/** The names of types, each with the statement that tries something with it. */
function typesUsedIn(node: ts.Node, statement?: ts.Statement): { name: string; statement: ts.Statement }[] {
  const around = ts.isExpressionStatement(node) ? (isGroup(node) ? undefined : node) : statement
  const uses: { name: string; statement: ts.Statement }[] = []
  if (around && ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName))
    uses.push({ name: node.typeName.text, statement: around })
  node.forEachChild(child => void uses.push(...typesUsedIn(child, around)))
  return uses
}

/** Whether a statement only holds others. */
function isGroup({ expression }: ts.ExpressionStatement): boolean {
  return ts.isCallExpression(expression) && ['describe', 'it'].includes(expression.expression.getText())
}
