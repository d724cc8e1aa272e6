import { readFile } from 'node:fs/promises'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const EVENTS = new URL('../packages/client/src/events.ts', import.meta.url)
const GUIDE = new URL('./guide/events.md', import.meta.url)

/** Names in `AgentEventPayloadMap`. */
async function eventNames(): Promise<string[]> {
  const source = ts.createSourceFile('events.ts', await readFile(EVENTS, 'utf8'), ts.ScriptTarget.Latest)
  const map = source.statements.find(
    statement => ts.isInterfaceDeclaration(statement) && statement.name.text === 'AgentEventPayloadMap',
  )
  if (!map || !ts.isInterfaceDeclaration(map)) return []
  return map.members.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []))
}

describe('docs/guide/events.md', () => {
  it('lists every event of AiAgent exactly once', async () => {
    const events = await eventNames()
    const guide = await readFile(GUIDE, 'utf8')
    const listed = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
    const envelope = ['type', 'timestamp', 'payload']
    expect(events.length).toBeGreaterThan(20)
    expect(listed.filter(name => !envelope.includes(name)).sort()).toEqual(events.sort())
  })
})
