import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import rest from '../../fixtures/rest.json' with { type: 'json' }
import { AccessTokenClaimsSchema } from '../oauth/claims.ts'
import { OAuthMetadataSchema } from '../oauth/metadata.ts'
import { TokenResponseSchema } from '../oauth/token.ts'
import { AgentDetailsSchema, AgentListSchema, agentDisplayName } from './agent.ts'
import { DeploymentInfoSchema } from './deployment.ts'
import { ErrorBodySchema } from './error-body.ts'
import { MaskingPatternsSchema } from './masking.ts'
import { PortalDetailsListSchema, PortalListSchema } from './portal.ts'
import { UserProfileListSchema } from './profile.ts'
import { SessionRequestSchema, SessionResponseSchema } from './session.ts'
import { PreviousTranscriptSchema } from './transcript.ts'
import { CustomerListSchema, UserListSchema } from './user.ts'

/** The sample's name, its schema, and the members that must be there. */
const records = [
  ['deploymentInfo', DeploymentInfoSchema, ['apiDomain']],
  ['agentDetails', AgentDetailsSchema, []],
  ['sessionRequest', SessionRequestSchema, ['context']],
  ['sessionResponse', SessionResponseSchema, ['sessionId']],
  ['portals', PortalListSchema, []],
  ['portalDetails', PortalDetailsListSchema, []],
  ['userProfiles', UserProfileListSchema, []],
  ['userDetails', UserListSchema, []],
  ['customerDetails', CustomerListSchema, []],
  ['maskingPatterns', MaskingPatternsSchema, []],
  ['previousTranscript', PreviousTranscriptSchema, []],
  ['oauthMetadata', OAuthMetadataSchema, []],
  ['tokenResponse', TokenResponseSchema, ['access_token', 'token_type']],
  ['accessTokenClaims', AccessTokenClaimsSchema, ['exp', 'iat', 'sub', 'scope']],
  ['errorBody', ErrorBodySchema, ['code', 'message']],
] as const

describe.each(records)('%s', (name, schema, notNull) => {
  const sample: Record<string, unknown> = rest[name]

  it('reads the sample whole', () => {
    expect(v.parse(schema, sample)).toEqual(sample)
  })

  it('lets unknown members pass', () => {
    expect(v.parse(schema, { ...sample, further: { deep: [1] } })).toMatchObject({ further: { deep: [1] } })
  })

  it('takes null for every member that may be missing', () => {
    for (const member of Object.keys(sample)) {
      const fits = v.is(schema, { ...sample, [member]: null })
      const strict: readonly string[] = notNull
      expect([member, fits]).toEqual([member, !strict.includes(member)])
    }
  })

  it.each([[[]], [null], ['text'], [7]])('refuses %j in its place', value => {
    expect(v.is(schema, value)).toBe(false)
  })
})

describe('DeploymentInfoSchema', () => {
  it.each([[{}], [{ apiDomain: '' }], [{ apiDomain: 5 }], [{ apiDomain: 'h', capabilities: 'receipts' }]])(
    'refuses %j',
    value => {
      expect(v.is(DeploymentInfoSchema, value)).toBe(false)
    },
  )

  it('reads the announced capabilities', () => {
    expect(v.parse(DeploymentInfoSchema, { apiDomain: 'h', capabilities: ['receipts', 'later'] }).capabilities).toEqual(
      ['receipts', 'later'],
    )
  })
})

describe('AgentDetailsSchema', () => {
  it.each([
    [{}, true],
    [{ portals: ['1', 2, { id: '3', name: 'x' }] }, true],
    [{ portals: [{}] }, false],
    [{ portals: '1,2' }, false],
    [{ extraScopes: 'a b,c' }, true],
    [{ extraScopes: [1] }, false],
    [{ isAuthenticated: 'true' }, false],
  ])('reads %j: %s', (value, fits) => {
    expect(v.is(AgentDetailsSchema, value)).toBe(fits)
  })

  it.each([
    [{ name: 'A', agentProfileDetails: { name: 'B' } }, 'A'],
    [{ name: '', agentProfileDetails: { name: 'B' } }, 'B'],
    [{ name: null, agentProfileDetails: null }, ''],
    [{}, ''],
  ])('names %j %j', (agent, name) => {
    expect(agentDisplayName(agent)).toBe(name)
  })
})

describe('lists', () => {
  it('of agents are bare', () => {
    expect(v.parse(AgentListSchema, rest.agentsByPortal)).toEqual(rest.agentsByPortal)
    expect(v.is(AgentListSchema, { agents: [] })).toBe(false)
  })

  it('may miss their list', () => {
    for (const schema of [PortalListSchema, UserProfileListSchema, UserListSchema, CustomerListSchema])
      expect(v.is(schema, {})).toBe(true)
  })
})

describe('lists of records', () => {
  it.each([
    ['a portal without an id', PortalListSchema, { portal: [{ name: 'Nowhere' }, { id: 7 }] }, { portal: [{ id: 7 }] }],
    ['a profile without an id', UserProfileListSchema, { profile: [{ id: 'a' }, null] }, { profile: [{ id: 'a' }] }],
    ['an agent without an id', AgentListSchema, [{ name: 'Nobody' }, { agentId: 'a' }], [{ agentId: 'a' }]],
    ['a rule that is none', MaskingPatternsSchema, { patterns: ['x', { order: 1 }] }, { patterns: [{ order: 1 }] }],
  ])('leave %s out and keep the others', (_, schema, given, read) => {
    expect(v.parse<v.GenericSchema>(schema, given)).toEqual(read)
  })

  it.each([{}, 'text', 7])('refuse %j in place of a list of portals', portal => {
    expect(v.is(PortalListSchema, { portal })).toBe(false)
  })
})

describe('MaskingPatternsSchema', () => {
  it('reads what is odd in a rule as absent, so that the other rules hold', () => {
    const odd = { name: 1, order: '1', javascriptRegularExpression: 5, applyLuhnAlgorithm: 'yes', maskingCharacter: 0 }
    const fields = { numOfCharsToUnmaskFromLeft: '4', numOfCharsToUnmaskFromRight: Number.NaN }
    const read = v.parse(MaskingPatternsSchema, { patterns: [{ ...odd, ...fields }], configuration: {} })
    expect(Object.values(read.patterns?.[0] ?? {}).every(value => value === undefined)).toBe(true)
  })
})
