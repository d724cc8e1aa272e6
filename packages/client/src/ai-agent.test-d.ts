import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type AgentAuthDetails,
  type AgentDetails,
  type AgentListItem,
  type AgentPhase,
  AiAgent,
  type AiAgentInitializeOptions,
  type AskOptions,
  type DeploymentInfo,
  type Id,
  type InitializationResult,
  type InitializedAgent,
  type MaskingPattern,
  type MaskingPatterns,
  type Message,
  type OperationOptions,
  type PendingChoice,
  type Portal,
  type PortalDetails,
  type UpdateAccessTokenOptions,
  type UserDetails,
  type UserProfile,
} from './index.ts'

describe('AiAgent', () => {
  const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.test' })

  it('is one of its own', () => {
    assertType<AiAgent>(agent)
    // @ts-expect-error a configuration is no agent
    assertType<AiAgent>({ id: 'help', endpoint: 'https://agents.example.test' })
  })

  it('AiAgentInitializeOptions: attributes that the conversation starts with', () => {
    assertType<AiAgentInitializeOptions>({ context: { plan: 'gold' } })
    // @ts-expect-error attributes stand in `context`
    assertType<AiAgentInitializeOptions>({ plan: 'gold' })
  })

  it('AgentPhase, PendingChoice: where the agent is, with the choice that waits for the user', () => {
    assertType<PendingChoice>({ status: 'choose', gate: 'portal', choices: [{ id: 1 }] })
    // @ts-expect-error a ready agent has no choice
    assertType<PendingChoice>({ status: 'ready' })
    assertType<AgentPhase>({ at: 'choosing', choice: { status: 'choose', gate: 'portal', choices: [{ id: 1 }] } })
    // @ts-expect-error only an idle agent has an error
    assertType<AgentPhase>({ at: 'ready', error: new Error() })
    expectTypeOf<AiAgent['getPhase']>().returns.toEqualTypeOf<AgentPhase>()
  })

  it('OperationOptions: a signal that gives up', () => {
    assertType<OperationOptions>({ signal: AbortSignal.timeout(1) })
    // @ts-expect-error a time limit is a signal as well
    assertType<OperationOptions>({ timeoutMs: 1 })
  })

  it('AskOptions: how long to wait, and a signal that gives up', () => {
    assertType<AskOptions>({ timeoutMs: 60_000, signal: AbortSignal.timeout(1) })
    // @ts-expect-error a time limit is a number of milliseconds
    assertType<AskOptions>({ timeoutMs: '1 min' })
  })

  it('tells whether there is somebody, and takes records that hosts copied', () => {
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
  it('DeploymentInfo: the host of its calls, and what else it tells', () => {
    assertType<DeploymentInfo>({ apiDomain: 'api.example.test', tenantId: null })
    // @ts-expect-error the host is missing
    assertType<DeploymentInfo>({ tenantId: 'T1' })
  })

  it('AgentDetails, AgentAuthDetails: what an agent is', () => {
    assertType<AgentDetails>({ agentId: 'help', portals: [1001, '1002', { id: 1003 }], extraScopes: 'a.b c.d' })
    // @ts-expect-error a flag is true, false or not there
    assertType<AgentDetails>({ isAuthenticated: 'yes' })
    assertType<AgentAuthDetails>({ isAuthenticated: true, userType: 'agent' })
    // @ts-expect-error portals have nothing to do with signing in
    assertType<AgentAuthDetails>({ portals: [] })
  })

  it('Portal, AgentListItem, UserProfile: have an id, as text or number', () => {
    assertType<Portal>({ id: 1001, name: 'Support', department: { id: '999' } })
    // @ts-expect-error the id is missing
    assertType<Portal>({ name: 'Support' })
    assertType<AgentListItem>({ agentId: 'desk', name: null })
    // @ts-expect-error the id is missing
    assertType<AgentListItem>({ name: 'Desk Assistant' })
    assertType<UserProfile>({ id: '10', isLastUsedInPortal: true })
    // @ts-expect-error an id is text or a number
    assertType<UserProfile>({ id: true })
  })

  it('Id, PortalDetails: what portals are named by, and what they say of themselves', () => {
    expectTypeOf<Id>().toEqualTypeOf<string | number>()
    // @ts-expect-error a list of ids is no id
    assertType<Id>([1001])
    assertType<PortalDetails>({ departmentId: 999, portalSettings: { defaultUserProfile: { id: 10 } } })
    // @ts-expect-error a name is text
    assertType<PortalDetails>({ name: 7 })
  })

  it('MaskingPattern, MaskingPatterns: what the service wants hidden', () => {
    assertType<MaskingPattern>({ name: 'Card', javascriptRegularExpression: '\\d{16}', applyLuhnAlgorithm: true })
    // @ts-expect-error an expression comes as text
    assertType<MaskingPattern>({ javascriptRegularExpression: /\d{16}/ })
    assertType<MaskingPatterns>({ patterns: [{ name: 'Card' }] })
    // @ts-expect-error rules are a list
    assertType<MaskingPatterns>({ patterns: { name: 'Card' } })
  })

  it('UserDetails: who is signed in, as far as the service says', () => {
    assertType<UserDetails>({ id: 7, name: 'Customer' })
    // @ts-expect-error an address is text
    assertType<UserDetails>({ email: ['customer@example.test'] })
  })

  it('InitializationResult: ready, or the choices of one gate', () => {
    assertType<InitializationResult>({ status: 'ready' })
    assertType<InitializationResult>({ status: 'choose', gate: 'portal', choices: [{ id: 1 }] })
    // @ts-expect-error a gate has choices
    assertType<InitializationResult>({ status: 'choose', gate: 'portal' })
  })

  it('InitializedAgent: the agent and the selection', () => {
    assertType<InitializedAgent>({ portal: { id: 1 }, availablePortals: [{ id: 1 }] })
    // @ts-expect-error a portal is a record
    assertType<InitializedAgent>({ portal: 1 })
  })

  it('UpdateAccessTokenOptions: whether the user has changed', () => {
    assertType<UpdateAccessTokenOptions>({ userChanged: true })
    // @ts-expect-error a flag
    assertType<UpdateAccessTokenOptions>({ userChanged: 'yes' })
  })
})
