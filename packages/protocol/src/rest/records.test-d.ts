import { assertType, describe, expectTypeOf, it } from 'vitest'
import type {
  AgentAuthDetails,
  AgentDetails,
  AgentListItem,
  DeploymentInfo,
  ErrorBody,
  Id,
  MaskingPattern,
  MaskingPatterns,
  Portal,
  PortalDetails,
  PortalList,
  PreviousTranscript,
  SessionRequest,
  SessionResponse,
  UserDetails,
  UserProfile,
  UserProfileList,
} from '../index.ts'
import { allFields } from '../index.ts'

describe('records', () => {
  it('Id: text or a number', () => {
    expectTypeOf<Id>().toEqualTypeOf<string | number>()
    // @ts-expect-error null names nothing
    assertType<Id>(null)
  })

  it('DeploymentInfo: where everything is', () => {
    assertType<DeploymentInfo>({ apiDomain: 'api.example.test', capabilities: ['receipts'] })
    // @ts-expect-error the host of the calls is missing
    assertType<DeploymentInfo>({ aiAgentDomain: 'example.test' })
  })

  it('AgentDetails, AgentAuthDetails, AgentListItem: what is said of agents', () => {
    assertType<AgentDetails>({ agentId: 7, portals: [{ id: 1001 }], extraScopes: ['a.b'] })
    // @ts-expect-error a portal is an id, or has one
    assertType<AgentDetails>({ portals: [{ name: 'Support' }] })
    assertType<AgentAuthDetails>({ clientAppId: 'app', userType: 'customer' })
    // @ts-expect-error the name of a client is text
    assertType<AgentAuthDetails>({ clientAppId: 7 })
    assertType<AgentListItem>({ agentId: 'desk' })
    // @ts-expect-error the id is missing
    assertType<AgentListItem>({ description: 'Listens in' })
  })

  it('Portal, PortalList, PortalDetails: what is said of portals', () => {
    assertType<Portal>({ id: 1001, department: { id: 999, name: 'Service' } })
    // @ts-expect-error the id is missing
    assertType<Portal>({ department: { id: 999 } })
    assertType<PortalList>({ portal: [{ id: 1001 }], paginationInfo: { count: 1, pagesize: 75 } })
    // @ts-expect-error a page has a size
    assertType<PortalList>({ paginationInfo: { count: 1 } })
    assertType<PortalDetails>({ portalSettings: { defaultUserProfile: { id: 10 } } })
    // @ts-expect-error settings are an object
    assertType<PortalDetails>({ portalSettings: [10] })
  })

  it('UserDetails, UserProfile, UserProfileList: what is said of people', () => {
    assertType<UserDetails>({ id: 7, email: null })
    // @ts-expect-error a name is text
    assertType<UserDetails>({ name: 7 })
    assertType<UserProfile>({ id: 10, name: 'Member' })
    // @ts-expect-error the id is missing
    assertType<UserProfile>({ name: 'Member' })
    assertType<UserProfileList>({ profile: [{ id: 10 }] })
    // @ts-expect-error profiles have ids
    assertType<UserProfileList>({ profile: [{ name: 'Member' }] })
  })

  it('SessionRequest, SessionResponse: a context goes, an id comes', () => {
    assertType<SessionRequest>({ context: { plan: 'gold' } })
    // @ts-expect-error a context is attributes by name
    assertType<SessionRequest>({ context: 'gold' })
    assertType<SessionResponse>({ sessionId: 's-1' })
    // @ts-expect-error a number has become text by then
    assertType<SessionResponse>({ sessionId: 7 })
  })

  it('PreviousTranscript: messages of any shape', () => {
    assertType<PreviousTranscript>({ messages: [{ content: 'Hello' }, 'Hello'] })
    // @ts-expect-error messages are a list
    assertType<PreviousTranscript>({ messages: { content: 'Hello' } })
  })

  it('MaskingPattern, MaskingPatterns: what to hide', () => {
    assertType<MaskingPattern>({ javascriptRegularExpression: '\\d{4}', order: 1, maskingCharacter: 'X' })
    // @ts-expect-error an order is a number
    assertType<MaskingPattern>({ order: 'first' })
    assertType<MaskingPatterns>({ patterns: [{ name: 'Card' }], configuration: { htmlTagMatcherRegEx: '<.*?>' } })
    // @ts-expect-error an expression is text
    assertType<MaskingPatterns>({ configuration: { htmlTagMatcherRegEx: /<.*?>/ } })
  })

  it('ErrorBody: a code and words', () => {
    assertType<ErrorBody>({ code: '401-290', message: 'Token will expire soon' })
    // @ts-expect-error the words are missing
    assertType<ErrorBody>({ code: '401-290' })
  })

  it('[REL-56] known fields only: a typing error in a name does not compile', () => {
    const portal: Portal = { id: 1 }
    // @ts-expect-error `name` was meant
    portal.nmae
    const agent: AgentDetails = {}
    // @ts-expect-error `userType` was meant
    agent.usertype
    // @ts-expect-error `departmentId` was meant
    assertType<PortalDetails>({ departmentID: 7 })
    expectTypeOf(allFields(portal)['openingHours']).toEqualTypeOf<unknown>()
  })
})
