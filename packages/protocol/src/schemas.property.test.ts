import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import clientMessages from '../fixtures/client-messages.json' with { type: 'json' }
import extensionMessages from '../fixtures/extension-messages.json' with { type: 'json' }
import rest from '../fixtures/rest.json' with { type: 'json' }
import serverMessages from '../fixtures/server-messages.json' with { type: 'json' }
import * as protocol from './index.ts'
import * as schemas from './schemas.ts'

/** Every record with its parser, its schema, and samples to start from. */
const records: Record<string, readonly [protocol.Reader<unknown>, v.GenericSchema, readonly unknown[]]> = {
  AgentDetails: [protocol.parseAgentDetails, schemas.AgentDetailsSchema, [rest.agentDetails]],
  AgentList: [protocol.parseAgentList, schemas.AgentListSchema, [rest.agentsByPortal]],
  AccessTokenClaims: [protocol.parseAccessTokenClaims, schemas.AccessTokenClaimsSchema, [rest.accessTokenClaims]],
  ContextAttribute: [
    protocol.parseContextAttribute,
    schemas.ContextAttributeSchema,
    [{ value: 41, type: 'integer', description: 'Age in years', notInLLM: true }],
  ],
  CustomerList: [protocol.parseCustomerList, schemas.CustomerListSchema, [rest.customerDetails]],
  DeploymentInfo: [
    protocol.parseDeploymentInfo,
    schemas.DeploymentInfoSchema,
    [{ ...rest.deploymentInfo, capabilities: ['receipts'] }],
  ],
  ErrorBody: [protocol.parseErrorBody, schemas.ErrorBodySchema, [rest.errorBody]],
  MaskingPatterns: [protocol.parseMaskingPatterns, schemas.MaskingPatternsSchema, [rest.maskingPatterns]],
  OAuthMetadata: [protocol.parseOAuthMetadata, schemas.OAuthMetadataSchema, [rest.oauthMetadata]],
  PortalDetailsList: [protocol.parsePortalDetailsList, schemas.PortalDetailsListSchema, [rest.portalDetails]],
  PortalList: [protocol.parsePortalList, schemas.PortalListSchema, [rest.portals]],
  PreviousTranscript: [protocol.parsePreviousTranscript, schemas.PreviousTranscriptSchema, [rest.previousTranscript]],
  SessionRequest: [protocol.parseSessionRequest, schemas.SessionRequestSchema, [rest.sessionRequest]],
  SessionResponse: [protocol.parseSessionResponse, schemas.SessionResponseSchema, [rest.sessionResponse]],
  TokenResponse: [protocol.parseTokenResponse, schemas.TokenResponseSchema, [rest.tokenResponse]],
  UserList: [protocol.parseUserList, schemas.UserListSchema, [rest.userDetails]],
  UserProfileList: [protocol.parseUserProfileList, schemas.UserProfileListSchema, [rest.userProfiles]],
  ServerMessage: [
    value => protocol.parseServerMessage(JSON.stringify(value)),
    schemas.ServerMessageSchema,
    [...serverMessages, ...extensionMessages.server].map(({ frame }) => frame),
  ],
  ClientMessage: [
    value => protocol.parseClientMessage(JSON.stringify(value)),
    schemas.ClientMessageSchema,
    [...clientMessages, ...extensionMessages.client].map(({ frame }) => frame),
  ],
}

/** Parsers whose schema is a variant of another record's. */
const COVERED_BY_CODEC_TEST = ['parseServerMessage', 'parseClientMessage']

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const anyValue: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> },
  { weight: 3, arbitrary: fc.constantFrom<Json>(null, '', 'text', 0, -1, 1.5, true, false, [], {}, [null], [{}]) },
)

/** The sample with some of its values, at any depth, replaced, removed or joined by others. */
function mutated(sample: Json): fc.Arbitrary<Json> {
  if (Array.isArray(sample)) {
    const elements = fc.tuple(...sample.map(mutated))
    const list = fc
      .tuple(elements, fc.array(anyValue, { maxLength: 2 }), fc.nat())
      .map(([own, further, at]): Json => own.toSpliced(at % (own.length + 1), 0, ...further))
    return fc.oneof({ weight: 12, arbitrary: list }, { weight: 1, arbitrary: anyValue })
  }
  if (typeof sample === 'object' && sample !== null) {
    const fields = Object.entries(sample).map(([name, value]) =>
      fc
        .option(mutated(value), { freq: 12 })
        .map((chosen): [string, Json][] => (chosen === null ? [] : [[name, chosen]])),
    )
    const further = fc.dictionary(fc.string(), anyValue, { maxKeys: 1 })
    const object = fc
      .tuple(fc.tuple(...fields), further)
      .map(([own, extra]): Json => ({ ...extra, ...Object.fromEntries(own.flat()) }))
    return fc.oneof({ weight: 12, arbitrary: object }, { weight: 1, arbitrary: anyValue })
  }
  return fc.oneof({ weight: 12, arbitrary: fc.constant(sample) }, { weight: 1, arbitrary: anyValue })
}

/** What a reading comes to: the value without undefined fields, or a refusal. */
const outcomeOf = (read: () => unknown): unknown => {
  try {
    return { read: JSON.parse(JSON.stringify(read())) }
  } catch (error) {
    expect([protocol.ProtocolError, v.ValiError].some(kind => error instanceof kind)).toBe(true)
    return 'refused'
  }
}

const agree = (parse: protocol.Reader<unknown>, schema: v.GenericSchema) => (value: Json) => {
  const given = JSON.stringify(value)
  expect(outcomeOf(() => parse(JSON.parse(given)))).toEqual(outcomeOf(() => v.parse(schema, JSON.parse(given))))
}

describe.each(Object.entries(records))('[REL-55] parser and schema of %s agree', (_, [parse, schema, samples]) => {
  it('on samples', () => {
    for (const sample of samples) {
      const outcome = outcomeOf(() => parse(structuredClone(sample)))
      expect(outcome).toEqual({ read: sample })
      expect(outcomeOf(() => v.parse(schema, sample))).toEqual(outcome)
    }
  })

  it('on samples with changes at any depth', () => {
    const nearlyValid = fc.oneof(...samples.map(sample => mutated(sample as Json)))
    fc.assert(fc.property(nearlyValid, agree(parse, schema)), { numRuns: 500 })
  })

  it('on texts with blanks around them', () => {
    for (const sample of samples) {
      const padded = JSON.parse(JSON.stringify(sample), (_, value) =>
        typeof value === 'string' ? ` ${value} ` : value,
      )
      agree(parse, schema)(padded)
    }
  })

  it('on any JSON', () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>, agree(parse, schema)), { numRuns: 200 })
  })

  it('on fields that could become a prototype', () => {
    for (const sample of samples) {
      const text = JSON.stringify(sample).replace(/^\{/, '{"__proto__":{"admin":true},"constructor":1,"prototype":2,')
      const read = outcomeOf(() => parse(JSON.parse(text)))
      expect(read).toEqual(outcomeOf(() => v.parse(schema, JSON.parse(text))))
      expect(JSON.stringify(read)).not.toMatch(/"(__proto__|constructor|prototype)":/)
    }
  })
})

it('compares every parser of the package', () => {
  const parsers = Object.entries(protocol).filter(([name]) => name.startsWith('parse'))
  const compared = Object.values(records).map(([parse]) => parse)
  const missing = parsers.filter(
    ([name, parse]) => !COVERED_BY_CODEC_TEST.includes(name) && !compared.includes(parse as never),
  )
  expect(missing.map(([name]) => name)).toEqual([])
  expect(parsers.length).toBeGreaterThan(15)
})

describe('[REL-57] an element that does not fit costs nothing but itself', () => {
  /** Lists of the records, by the path to them. */
  const lists: readonly (readonly [protocol.Reader<unknown>, unknown, readonly (string | number)[]])[] = [
    [protocol.parseAgentDetails, { portals: [1, { id: 2 }] }, ['portals']],
    [protocol.parseAgentDetails, { extraScopes: ['a'] }, ['extraScopes']],
    [protocol.parseAgentList, [{ agentId: 'a' }], []],
    [protocol.parseAccessTokenClaims, { scope: ['a', 'b'] }, ['scope']],
    [protocol.parseDeploymentInfo, { apiDomain: 'h', capabilities: ['a'] }, ['capabilities']],
    [protocol.parsePortalList, { portal: [{ id: 1 }, { id: 2 }] }, ['portal']],
    [protocol.parsePortalDetailsList, { portal: [{ name: 'Support' }] }, ['portal']],
    [protocol.parseUserProfileList, { profile: [{ id: 1 }] }, ['profile']],
    [protocol.parseUserList, { user: [{ id: 1 }] }, ['user']],
    [protocol.parseCustomerList, { customer: [{ id: 1 }] }, ['customer']],
    ...(['oAuthAnonymousCustomer', 'oAuthUser', 'oAuthCustomer'] as const).map(
      name =>
        [
          protocol.parseOAuthMetadata,
          { authenticationDetails: { [name]: [{ authURL: 'https://login.example.test' }] } },
          ['authenticationDetails', name],
        ] as const,
    ),
    ...(['options', 'sources', 'contextValidationErrors'] as const).map(
      name =>
        [
          (value: unknown) => protocol.parseServerMessage(JSON.stringify(value)),
          {
            persona: 'agent',
            role: 'agent',
            messageData: {
              [name]: {
                options: ['yes'],
                sources: [{ title: 'a' }],
                contextValidationErrors: [{ name: 'a', reason: 'b' }],
              }[name],
            },
          },
          ['messageData', name],
        ] as const,
    ),
  ]
  const odd: fc.Arbitrary<Json> = fc.constantFrom<Json>(null, [], [1], true, false)
  const at = (value: unknown, path: readonly (string | number)[]): unknown =>
    path.reduce((inner, name) => (inner as Record<string | number, unknown>)[name], value)

  it.each(lists)('%o %j', (parse, sample, path) => {
    const oddOnes = fc.array(fc.tuple(odd, fc.nat()), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(oddOnes, insertions => {
        const given = structuredClone(sample)
        const list = at(given, path) as Json[]
        for (const [element, position] of insertions) list.splice(position % (list.length + 1), 0, element)
        expect(parse(given)).toEqual(sample)
      }),
    )
  })

  it.each([
    [
      'a portal without an id',
      protocol.parsePortalList,
      { portal: [{ name: 'x' }, { id: 7 }] },
      { portal: [{ id: 7 }] },
    ],
    ['portals of an agent', protocol.parseAgentDetails, { portals: [null, {}, { id: null }, 7] }, { portals: [7] }],
    ['a profile without an id', protocol.parseUserProfileList, { profile: [{}, { id: 1 }] }, { profile: [{ id: 1 }] }],
  ] as const)('leaves out %s', (_, parse, given, read) => {
    expect(parse(given)).toEqual(read)
  })
})
