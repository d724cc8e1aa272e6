import { readFile } from 'node:fs/promises'
import * as client from '@aiagent/client'
import * as pkce from '@aiagent/client/pkce'
import { describe, expect, it } from 'vitest'
import { exportedNames, isTypeName } from '../exported-names.ts'
import { AGENT_MEMBERS, PUBLIC_NAMES } from '../public-names.ts'
import { verifiesAlone } from '../verifies.ts'

const CORE = exportedNames('packages/client/src/index.ts')
const NAMES = Object.values(PUBLIC_NAMES).flat()

/** The types of the rule, as a host imports them. Each line fails to compile without its type. */
interface Named {
  Portal: client.Portal
  UserProfile: client.UserProfile
  AgentListItem: client.AgentListItem
  UserDetails: client.UserDetails
  AgentAuthDetails: client.AgentAuthDetails
  HookContract: client.HookContract
  PlatformComponentService: client.PlatformComponentService
  CallerInfo: client.CallerInfo
  CallTranscriptEntry: client.CallTranscriptEntry
  TranscriptEntry: client.TranscriptEntry
  ContextValidationHandler: client.ContextValidationHandler
  ContextValidationIssue: client.ContextValidationIssue
  AiAgentInitializeOptions: client.AiAgentInitializeOptions
  AiAgentConnectorConfig: client.AiAgentConnectorConfig
  PKCEAuthConfig: client.PKCEAuthConfig
  AuthProvider: client.AuthProvider
  AuthStrategy: client.AuthStrategy
  InitializationPipelineErrorCode: client.InitializationPipelineErrorCode
  InitializationPipelineStage: client.InitializationPipelineStage
}

const TYPES: readonly (keyof Named)[] = [
  'Portal',
  'UserProfile',
  'AgentListItem',
  'UserDetails',
  'AgentAuthDetails',
  'HookContract',
  'PlatformComponentService',
  'CallerInfo',
  'CallTranscriptEntry',
  'TranscriptEntry',
  'ContextValidationHandler',
  'ContextValidationIssue',
  'AiAgentInitializeOptions',
  'AiAgentConnectorConfig',
  'PKCEAuthConfig',
  'AuthProvider',
  'AuthStrategy',
  'InitializationPipelineErrorCode',
  'InitializationPipelineStage',
]

verifiesAlone('OPS-07', 'each named type is exported as a type', () => {
  const types = [...CORE.values()].filter(isTypeName).map(({ name }) => name)
  expect(TYPES.filter(name => !types.includes(name))).toEqual([])
})

verifiesAlone('OPS-05', 'the refresh buffer is exported in milliseconds and in minutes', () => {
  expect(client.ACCESS_TOKEN_REFRESH_BUFFER_MS).toBe(300_000)
  expect(client.ACCESS_TOKEN_REFRESH_BUFFER_MINUTES).toBe(5)
})

describe('the public names', () => {
  /** Names in the first column of the table of names that are not exported. */
  async function replacedNames(): Promise<string[]> {
    const decisions = await readFile(new URL('../../../docs/decisions.md', import.meta.url), 'utf8')
    const section = decisions.split('\n## Names that are not exported\n')[1]?.split('\n## ')[0] ?? ''
    const rows = section.split('\n').filter(line => line.startsWith('| `'))
    return rows.flatMap(row => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].flatMap(([, name]) => name ?? []))
  }

  it('are exported or listed with their replacement', async () => {
    const replaced = await replacedNames()
    expect(NAMES.filter(name => !CORE.has(name) && !replaced.includes(name))).toEqual([])
  })

  it('are not listed as missing while they are exported', async () => {
    const replaced = await replacedNames()
    expect(replaced.length).toBeGreaterThan(0)
    expect(replaced.filter(name => CORE.has(name))).toEqual([])
  })

  it('exist at run time unless they are only types', () => {
    const atRunTime: ReadonlySet<string> = new Set([...Object.keys(client), ...Object.keys(pkce)])
    const values = NAMES.filter(name => CORE.get(name)?.kinds.has('value') || CORE.get(name)?.kinds.has('class'))
    expect(values.length).toBeGreaterThan(40)
    expect(values.filter(name => !atRunTime.has(name))).toEqual([])
  })

  it('include the members of AiAgent', () => {
    expect(AGENT_MEMBERS.filter(name => !(name in client.AiAgent.prototype))).toEqual([])
  })
})
