import type {
  AgentProfileDetails,
  DefaultUserProfile,
  MaskingConfiguration,
  MaskingPattern,
  PortalDepartment,
  PortalReference,
  PortalSettings,
  ProtocolError,
  ServerMessageData,
} from '@aiagent/protocol'
import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { UpdateAccessTokenOptions } from '../ai-agent.ts'
import type { InitializedAgent } from '../facts.ts'
import {
  type AgentAuthDetails,
  type AgentDetails,
  type AgentListItem,
  type AgentPhase,
  type AgentStatus,
  AiAgent,
  type AiAgentInitializeOptions,
  type AskOptions,
  type DeploymentInfo,
  type Id,
  type InitializationResult,
  type MaskingPatterns,
  type Message,
  type OperationOptions,
  type PendingChoice,
  type Portal,
  type PortalDetails,
  type UserDetails,
  type UserProfile,
} from '../index.ts'

describe('AiAgent', () => {
  const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.test' })

  it('is a separate class', () => {
    assertType<AiAgent>(agent)
    // @ts-expect-error a configuration is not an agent
    assertType<AiAgent>({ id: 'help', endpoint: 'https://agents.example.test' })
  })

  it('AiAgentInitializeOptions has initial context attributes', () => {
    assertType<AiAgentInitializeOptions>({ context: { plan: 'gold' } })
    // @ts-expect-error attributes belong in `context`
    assertType<AiAgentInitializeOptions>({ plan: 'gold' })
  })

  it('AgentPhase and PendingChoice describe the state of the agent, with the pending choice', () => {
    assertType<PendingChoice>({ status: 'choose', gate: 'portal', choices: [{ id: 1 }] })
    // @ts-expect-error a ready agent has no choice
    assertType<PendingChoice>({ status: 'ready' })
    assertType<AgentPhase>({ at: 'choosing', choice: { status: 'choose', gate: 'portal', choices: [{ id: 1 }] } })
    // @ts-expect-error only an idle agent has an error
    assertType<AgentPhase>({ at: 'ready', error: new Error() })
  })

  it('AgentStatus has the phase, the connection, and what the agent does', () => {
    assertType<AgentStatus>({ phase: { at: 'ready' }, connection: 'CONNECTED', working: true, retryAt: undefined })
    // @ts-expect-error the phase is an object
    assertType<AgentStatus>({ phase: 'ready', connection: 'CONNECTED', working: true, retryAt: undefined })
    expectTypeOf<AiAgent['status']>().toEqualTypeOf<AgentStatus>()
  })

  it('OperationOptions has a signal that aborts', () => {
    assertType<OperationOptions>({ signal: AbortSignal.timeout(1) })
    // @ts-expect-error a time limit is a signal as well
    assertType<OperationOptions>({ timeoutMs: 1 })
  })

  it('AskOptions has a time limit and a signal', () => {
    assertType<AskOptions>({ timeoutMs: 60_000, signal: AbortSignal.timeout(1) })
    // @ts-expect-error a time limit is a number of milliseconds
    assertType<AskOptions>({ timeoutMs: '1 min' })
  })

  it('reports whether a user is signed in, and accepts copied records', () => {
    expectTypeOf<AiAgent['getUserDetails']>().returns.toEqualTypeOf<UserDetails | null>()
    expectTypeOf<AiAgent['selectPortal']>().parameter(0).toEqualTypeOf<Pick<Portal, 'id'>>()
    expectTypeOf<AiAgent['selectAgent']>().parameter(0).toEqualTypeOf<Pick<AgentListItem, 'agentId'>>()
    expectTypeOf<AiAgent['selectUserProfile']>().parameter(0).toEqualTypeOf<Pick<UserProfile, 'id'>>()
    expectTypeOf<AiAgent['send']>().returns.resolves.toBeString()
    expectTypeOf<AiAgent['ask']>().returns.resolves.toEqualTypeOf<Message>()
    expectTypeOf<AiAgent['messages']>().returns.toEqualTypeOf<AsyncIterableIterator<Message>>()
  })
})

describe('records of the service', () => {
  it('DeploymentInfo requires the host of its calls, and has other fields', () => {
    assertType<DeploymentInfo>({ apiDomain: 'api.example.test', tenantId: null })
    // @ts-expect-error the host is missing
    assertType<DeploymentInfo>({ tenantId: 'T1' })
  })

  it('AgentDetails and AgentAuthDetails describe an agent', () => {
    assertType<AgentDetails>({ agentId: 'help', portals: [1001, '1002', { id: 1003 }], extraScopes: 'a.b c.d' })
    // @ts-expect-error a flag is true, false or absent
    assertType<AgentDetails>({ isAuthenticated: 'yes' })
    assertType<AgentAuthDetails>({ isAuthenticated: true, userType: 'agent' })
    // @ts-expect-error portals are not part of AgentAuthDetails
    assertType<AgentAuthDetails>({ portals: [] })
  })

  it('Portal, AgentListItem and UserProfile have an id, as string or number', () => {
    assertType<Portal>({ id: 1001, name: 'Support', department: { id: '999' } })
    // @ts-expect-error the id is missing
    assertType<Portal>({ name: 'Support' })
    assertType<AgentListItem>({ agentId: 'desk', name: null })
    // @ts-expect-error the id is missing
    assertType<AgentListItem>({ name: 'Desk Assistant' })
    assertType<UserProfile>({ id: '10', isLastUsedInPortal: true })
    // @ts-expect-error an id is a string or a number
    assertType<UserProfile>({ id: true })
  })

  it('Id identifies a portal, PortalDetails describe it', () => {
    expectTypeOf<Id>().toEqualTypeOf<string | number>()
    // @ts-expect-error a list of ids is not an id
    assertType<Id>([1001])
    assertType<PortalDetails>({ departmentId: 999, portalSettings: { defaultUserProfile: { id: 10 } } })
    // @ts-expect-error a name is a string
    assertType<PortalDetails>({ name: 7 })
  })

  it('MaskingPattern and MaskingPatterns are the rules of the service', () => {
    assertType<MaskingPattern>({ name: 'Card', javascriptRegularExpression: '\\d{16}', applyLuhnAlgorithm: true })
    // @ts-expect-error an expression is a string
    assertType<MaskingPattern>({ javascriptRegularExpression: /\d{16}/ })
    assertType<MaskingPatterns>({ patterns: [{ name: 'Card' }] })
    // @ts-expect-error rules are a list
    assertType<MaskingPatterns>({ patterns: { name: 'Card' } })
  })

  it('the parts of records have exported types', () => {
    assertType<AgentProfileDetails>({ name: 'Desk Assistant' })
    // @ts-expect-error a name is a string
    assertType<AgentProfileDetails>({ name: 7 })
    assertType<PortalReference>({ id: 1001 })
    // @ts-expect-error the id is missing
    assertType<PortalReference>({})
    assertType<PortalDepartment>({ id: '999', name: 'Returns' })
    // @ts-expect-error an id is a string or a number
    assertType<PortalDepartment>({ id: true })
    assertType<PortalSettings>({ defaultUserProfile: { id: 10 } })
    assertType<DefaultUserProfile>({ id: 10 })
    // @ts-expect-error an id is a string or a number
    assertType<DefaultUserProfile>({ id: [10] })
    // @ts-expect-error a profile is a record
    assertType<PortalSettings>({ defaultUserProfile: 10 })
    assertType<MaskingConfiguration>({ htmlTagMatcherRegEx: '<[^>]+>' })
    // @ts-expect-error an expression is a string
    assertType<MaskingConfiguration>({ htmlTagMatcherRegEx: /<[^>]+>/ })
  })

  it('ServerMessageData has what the service says with a message, ProtocolError what cannot be read', () => {
    assertType<ServerMessageData>({ options: ['Yes', 'No'] })
    // @ts-expect-error an option is a string
    assertType<ServerMessageData>({ options: [1, 2] })
    expectTypeOf<ProtocolError>().toExtend<Error>()
    // @ts-expect-error any other error has no data
    assertType<ProtocolError>(new Error('broken'))
  })

  it('UserDetails describes the signed-in user', () => {
    assertType<UserDetails>({ id: 7, name: 'Customer' })
    // @ts-expect-error an address is a string
    assertType<UserDetails>({ email: ['customer@example.test'] })
  })

  it('InitializationResult is ready, or has the choices of one gate', () => {
    assertType<InitializationResult>({ status: 'ready' })
    assertType<InitializationResult>({ status: 'choose', gate: 'portal', choices: [{ id: 1 }] })
    // @ts-expect-error a gate has choices
    assertType<InitializationResult>({ status: 'choose', gate: 'portal' })
  })

  it('InitializedAgent contains the agent and the selection', () => {
    assertType<InitializedAgent>({ portal: { id: 1 }, availablePortals: [{ id: 1 }] })
    // @ts-expect-error a portal is a record
    assertType<InitializedAgent>({ portal: 1 })
  })

  it('UpdateAccessTokenOptions states whether the user has changed', () => {
    assertType<UpdateAccessTokenOptions>({ userChanged: true })
    // @ts-expect-error userChanged is a boolean
    assertType<UpdateAccessTokenOptions>({ userChanged: 'yes' })
  })
})
