import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type KnownInitParams, readInitParams, toEnvironmentName } from './init-params.ts'

const NOTHING: KnownInitParams = {
  portalIds: [],
  departmentId: undefined,
  agentId: undefined,
  userId: undefined,
  shortUrlTemplate: undefined,
  authType: undefined,
  isDefaultAgent: false,
  clientId: undefined,
  platform: undefined,
  environment: undefined,
}

/** Parameters that the library knows. */
const NAMES = [
  ...['portalIds', 'portalids', 'departmentId', 'agentid', 'userid', 'templateName', 'vendortemplate', 'authType'],
  ...['isDefaultAgent', 'vendorclientid', 'platform', 'env'],
]

describe('readInitParams', () => {
  it.each<[string, Record<string, string>, Partial<KnownInitParams>]>([
    ['no parameters', {}, {}],
    ['unknown parameters', { further: 'x', toString: 'x' }, {}],
    ['an undefined value', { platform: undefined as never }, {}],
    ['[INIT-03] portals', { portalIds: ' 1, 2,,1 , x ' }, { portalIds: ['1', '2', 'x'] }],
    ['[INIT-03] portals in lower case', { portalids: '1' }, { portalIds: ['1'] }],
    ['[INIT-03] both spellings', { portalids: '1', portalIds: '2' }, { portalIds: ['2'] }],
    ['[INIT-03] one spelling blank', { portalIds: ' ', portalids: '1' }, { portalIds: ['1'] }],
    ['[INIT-03] portals of only commas', { portalIds: ' , ,' }, { portalIds: [] }],
    ['[INIT-02] a department', { departmentId: ' 9 ' }, { departmentId: '9' }],
    ['[INIT-02] a department in lower case', { departmentid: '9' }, { departmentId: '9' }],
    ['[INIT-02] a blank department', { departmentId: '  ' }, {}],
    ['[INIT-01] an agent', { agentid: '7' }, { agentId: '7' }],
    ['[INIT-01] an agent in the other spelling', { agentId: '7' }, { agentId: '7' }],
    ['[INIT-07] a user', { userid: 'ada' }, { userId: 'ada' }],
    ['[INIT-07] a user in the other spelling', { userId: 'ada' }, { userId: 'ada' }],
    [
      '[INIT-04] three templates',
      { vendortemplate: 'c', shortUrlTemplate: 'b', templateName: ' a ' },
      { shortUrlTemplate: 'a' },
    ],
    [
      '[INIT-04] the first template blank',
      { vendortemplate: 'c', shortUrlTemplate: 'b', templateName: ' ' },
      { shortUrlTemplate: 'b' },
    ],
    ['[INIT-04] the last template alone', { vendortemplate: 'c' }, { shortUrlTemplate: 'c' }],
    ['[INIT-05] an auth type', { authType: ' Customer ' }, { authType: 'customer' }],
    ['[INIT-08] a default agent', { isDefaultAgent: ' TRUE ' }, { isDefaultAgent: true }],
    ['[INIT-08] no default agent', { isDefaultAgent: 'yes' }, { isDefaultAgent: false }],
    ['[INIT-09] a client id', { vendorclientid: 'app' }, { clientId: 'app' }],
    ['a platform', { platform: 'Test' }, { platform: 'Test' }],
    ['[INIT-11] an environment', { env: 'QA' }, { environment: 'qa' }],
    ['[INIT-11] an unknown environment', { env: 'staging' }, { environment: 'prod' }],
  ])('%s', (_case, given, known) => {
    expect(readInitParams(given)).toEqual({ ...NOTHING, ...known })
  })

  it('never returns a blank value, for any input', () => {
    const values = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(' ', '\t', ',', '\u00a0', 'x', 'X') }))
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...NAMES), values), given => {
        const texts = Object.values(readInitParams(given)).flat()
        expect(texts.filter(text => typeof text === 'string' && text.trim() === '')).toEqual([])
      }),
    )
  })
})

describe('toEnvironmentName', () => {
  it.each([
    ['dev', 'dev'],
    ['QA', 'qa'],
    [' Non-Prod ', 'non-prod'],
    ['prod', 'prod'],
    ['production', 'prod'],
    ['', 'prod'],
    [undefined, 'prod'],
    [null, 'prod'],
    ['constructor', 'prod'],
  ])('[INIT-11] reads %j as %s', (word, name) => {
    expect(toEnvironmentName(word)).toBe(name)
  })
})
