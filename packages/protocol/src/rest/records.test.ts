import { describe, expect, it } from 'vitest'
import rest from '../../fixtures/rest.json' with { type: 'json' }
import {
  agentDisplayName,
  parseAccessTokenClaims,
  parseAgentDetails,
  parseAgentList,
  parseCustomerList,
  parseDeploymentInfo,
  parseErrorBody,
  parseMaskingPatterns,
  parseOAuthMetadata,
  parsePortalDetailsList,
  parsePortalList,
  parsePreviousTranscript,
  parseSessionRequest,
  parseSessionResponse,
  parseTokenResponse,
  parseUserList,
  parseUserProfileList,
  type Reader,
} from '../index.ts'

const fits = (parse: Reader<unknown>, value: unknown) => {
  try {
    parse(value)
    return true
  } catch {
    return false
  }
}

/** The sample's name, its parser, and the fields that must be there. */
const records = [
  ['deploymentInfo', parseDeploymentInfo, ['apiDomain']],
  ['agentDetails', parseAgentDetails, []],
  ['sessionRequest', parseSessionRequest, ['context']],
  ['sessionResponse', parseSessionResponse, ['sessionId']],
  ['portals', parsePortalList, []],
  ['portalDetails', parsePortalDetailsList, []],
  ['userProfiles', parseUserProfileList, []],
  ['userDetails', parseUserList, []],
  ['customerDetails', parseCustomerList, []],
  ['maskingPatterns', parseMaskingPatterns, []],
  ['previousTranscript', parsePreviousTranscript, []],
  ['oauthMetadata', parseOAuthMetadata, []],
  ['tokenResponse', parseTokenResponse, ['access_token', 'token_type']],
  ['accessTokenClaims', parseAccessTokenClaims, ['exp', 'iat', 'sub', 'scope']],
  ['errorBody', parseErrorBody, ['code', 'message']],
] as const

describe.each(records)('%s', (name, parse, notNull) => {
  const sample: Record<string, unknown> = rest[name]

  it('reads the sample whole', () => {
    expect(parse(sample)).toEqual(sample)
  })

  it('passes unknown fields through', () => {
    expect(parse({ ...sample, further: { deep: [1] } })).toMatchObject({ further: { deep: [1] } })
  })

  it('accepts null for every field that may be missing', () => {
    for (const member of Object.keys(sample)) {
      const nullFits = fits(parse, { ...sample, [member]: null })
      const strict: readonly string[] = notNull
      expect([member, nullFits]).toEqual([member, !strict.includes(member)])
    }
  })

  it.each([[[]], [null], ['text'], [7]])('refuses %j in its place', value => {
    expect(fits(parse, value)).toBe(false)
  })
})

describe('parseDeploymentInfo', () => {
  it.each([[{}], [{ apiDomain: '' }], [{ apiDomain: 5 }]])('refuses %j', value => {
    expect(fits(parseDeploymentInfo, value)).toBe(false)
  })

  it('reads the announced capabilities', () => {
    expect(parseDeploymentInfo({ apiDomain: 'h', capabilities: ['receipts', 'later'] }).capabilities).toEqual([
      'receipts',
      'later',
    ])
  })

  it.each(['receipts', 7, { resume: true }])('[REL-70] reads capabilities that are not a list (%j) as none', given => {
    expect(parseDeploymentInfo({ apiDomain: 'h', capabilities: given })).toEqual({ apiDomain: 'h' })
  })
})

describe('parseAgentDetails', () => {
  it.each([
    [{}, true],
    [{ portals: ['1', 2, { id: '3', name: 'x' }] }, true],
    [{ portals: [{}] }, true],
    [{ portals: '1,2' }, false],
    [{ extraScopes: 'a b,c' }, true],
    [{ extraScopes: [1] }, true],
    [{ extraScopes: 1 }, false],
    [{ isAuthenticated: 'true' }, false],
  ])('reads %j: %s', (value, isFit) => {
    expect(fits(parseAgentDetails, value)).toBe(isFit)
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
    expect(parseAgentList(rest.agentsByPortal)).toEqual(rest.agentsByPortal)
    expect(fits(parseAgentList, { agents: [] })).toBe(false)
  })

  it('may miss their list', () => {
    for (const parse of [parsePortalList, parseUserProfileList, parseUserList, parseCustomerList])
      expect(fits(parse, {})).toBe(true)
  })
})

describe('lists of records', () => {
  it.each([
    ['a portal without an id', parsePortalList, { portal: [{ name: 'Nowhere' }, { id: 7 }] }, { portal: [{ id: 7 }] }],
    ['a profile without an id', parseUserProfileList, { profile: [{ id: 'a' }, null] }, { profile: [{ id: 'a' }] }],
    ['an agent without an id', parseAgentList, [{ name: 'Nobody' }, { agentId: 'a' }], [{ agentId: 'a' }]],
  ])('leave %s out and keep the others', (_, parse, given, read) => {
    expect(parse(given)).toEqual(read)
  })

  it.each([{}, 'text', 7])('refuse %j in place of a list of portals', portal => {
    expect(fits(parsePortalList, { portal })).toBe(false)
  })
})

describe('parseMaskingPatterns', () => {
  it('reads an element that is not an object as a rule without fields, so that it can be reported', () => {
    const patterns = [null, 'x', { order: 1 }, 7, []]
    expect(parseMaskingPatterns({ patterns }).patterns).toEqual([{}, {}, { order: 1 }, {}, {}])
  })

  it('reads what is odd in a rule as absent, so that the other rules hold', () => {
    const odd = { name: 1, order: '1', javascriptRegularExpression: 5, applyLuhnAlgorithm: 'yes', maskingCharacter: 0 }
    const fields = { numOfCharsToUnmaskFromLeft: '4', numOfCharsToUnmaskFromRight: Number.NaN }
    const read = parseMaskingPatterns({ patterns: [{ ...odd, ...fields }], configuration: {} })
    expect(Object.values(read.patterns?.[0] ?? {}).every(value => value === undefined)).toBe(true)
  })
})
