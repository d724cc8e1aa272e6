import { readFileSync } from 'node:fs'
import { AiAgent, InitializationPipelineErrorCode } from '@aiagent/client'
import { REMEDIES } from '@aiagent/client/doctor'
import { createEmulator } from '@aiagent/emulator'
import ts from 'typescript'
import { expect, it } from 'vitest'

/** Types of errors whose codes have several reasons. */
const REASONS = {
  API_ERROR: 'ApiErrorReason',
  AUTH_ERROR: 'AuthErrorReason',
  CONNECTION_ERROR: 'ConnectionErrorReason',
  MESSAGE_ERROR: 'MessageErrorReason',
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** A type or an interface of a file of the client. */
function declarationOf(file: string, name: string): ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  const source = ts.createSourceFile(file, read(`../packages/client/src/${file}`), ts.ScriptTarget.Latest)
  for (const statement of source.statements)
    if ((ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) && statement.name.text === name)
      return statement
  throw new Error(`${file} has no ${name}.`)
}

/** The texts in a union of `errors.ts`. */
function textsOf(name: string): string[] {
  const declaration = declarationOf('errors.ts', name)
  if (!ts.isTypeAliasDeclaration(declaration) || !ts.isUnionTypeNode(declaration.type)) return []
  return declaration.type.types.flatMap(type =>
    ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? type.literal.text : [],
  )
}

it('docs/guide/errors.md says for every code and reason of an error when it occurs and what to do', () => {
  const reasons = Object.entries(REASONS).flatMap(([code, type]) => textsOf(type).map(reason => `${code}.${reason}`))
  const expected = [...textsOf('SDKErrorCode'), ...reasons, ...Object.keys(InitializationPipelineErrorCode)]
  const guide = read('guide/errors.md')
  const anchors = [...guide.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id)
  expect(anchors.toSorted()).toEqual(expected.toSorted())
  const rows = [...guide.matchAll(/<a id="([\w.]+)"><\/a>`\w+` \| [^|\n]+ \| [^|\n]+ \|$/gm)].map(([, id]) => id)
  const sections = [...guide.matchAll(/^### (\w+)\n\n`\w+`\. .+\n\n\| When \| What to do \|\n.+\n\| .+ \| .+ \|$/gm)]
  expect([...rows, ...sections.map(([, code]) => code), ...Object.keys(REASONS)].toSorted()).toEqual(
    expected.toSorted(),
  )
})

it('docs/guide/events.md lists every event of AiAgent exactly once', () => {
  const map = declarationOf('events.ts', 'AgentEventPayloadMap')
  const events = ts.isInterfaceDeclaration(map)
    ? map.members.flatMap(({ name }) => (name && ts.isIdentifier(name) ? name.text : []))
    : []
  const listed = [...read('guide/events.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
  expect(events.length).toBeGreaterThan(20)
  expect(listed.filter(name => !['type', 'timestamp', 'payload'].includes(name)).sort()).toEqual(events.sort())
})

it('docs/guide/doctor.md lists every problem of the doctor with its remedy', () => {
  const listed = [...read('guide/doctor.md').matchAll(/^\| `([A-Z_]+)` \| (.+) \|$/gm)]
  expect(listed.map(([, code, remedy]) => [code, remedy])).toEqual(Object.entries(REMEDIES))
})

it('[ADOPT-14] docs/guide/write-a-connector.md begins with a script that connects an agent', async () => {
  const [, script = ''] = /```js\n([\s\S]+?)```/.exec(read('guide/write-a-connector.md')) ?? []
  const { origin, fetch, WebSocket, control } = createEmulator()
  const importModule = () => import(`data:text/javascript,${encodeURIComponent(script)}`)
  const agent = new AiAgent(
    {
      id: 'desk',
      endpoint: origin,
      auth: { type: 'pre-auth', accessToken: control.issueToken({ subject: 'desk-agent' }) },
      initParams: { platform: 'north-desk' },
      connector: { connectorUrl: 'file:///desk.js' },
    },
    { fetch, WebSocket, importModule },
  )
  expect(await agent.initialize()).toEqual({ status: 'ready' })
  expect([agent.getConversationId(), agent.getCallerInfo()?.name, agent.getCallTranscript().length]).toEqual([
    'call-7',
    'Caller',
    1,
  ])
  await agent.destroy()
})
