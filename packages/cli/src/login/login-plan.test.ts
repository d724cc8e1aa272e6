import { describe, expect, it } from 'vitest'
import { CommandFailure } from '../failure.ts'
import { type LoginFacts, loginMetadataPath, planLogin } from './login-plan.ts'

const deployment = {
  apiDomain: 'api.test',
  tenantId: 'T1',
  intClientId: 'staff-app',
  extClientId: 'customer-app',
  clientId: 'any-app',
}
const login = (host: string) => [
  { authURL: `${host}/gate/oauth2/authorize?p=x`, accessTokenURL: `${host}/gate/token?p=x` },
]
const metadata = {
  authenticationDetails: { oAuthUser: login('https://staff.test'), oAuthCustomer: login('https://people.test') },
  idpPolicies: { userSigninPolicy: 'staff-in', customerSigninPolicy: 'people-in' },
  apiMetadata: { CORE: { apiPermissionPrefix: 'api://all/', iApiPermissionPrefix: 'api://int/' } },
}
const customer = { userType: 'customer' }
const staff = { userType: 'agent' }
const plan = (more: Partial<LoginFacts> = {}) => planLogin({ deployment, agent: customer, metadata, ...more })

describe('planLogin', () => {
  it('makes the login of customers', () => {
    expect(plan()).toEqual({
      clientId: 'customer-app',
      authority: 'https://people.test/gate/people-in',
      issuer: 'https://people.test/tfp/gate/people-in/v2.0/',
      authorizationEndpoint: 'https://people.test/gate/oauth2/authorize',
      tokenEndpoint: 'https://people.test/gate/token?p=x',
      scopes: [
        'openid',
        'profile',
        'offline_access',
        'api://all/knowledge.portalmgr.manage',
        'api://all/core.aiservices.read',
        'api://all/core.customermgr.read',
      ],
    })
  })

  it('makes the login of staff, with the prefix for staff', () => {
    const { clientId, authority, scopes } = plan({ agent: { ...staff, extraScopes: 'mine api://int/b other://c' } })
    expect({ clientId, authority }).toEqual({ clientId: 'staff-app', authority: 'https://staff.test/gate/staff-in' })
    expect(scopes.slice(3)).toEqual([
      'api://int/knowledge.portalmgr.manage',
      'api://int/core.aiservices.read',
      'api://int/mine',
      'api://int/b',
      'other://c',
    ])
  })

  it.each<[string, Partial<LoginFacts>, string]>([
    ['the user’s', { clientId: 'mine', agent: { ...customer, clientAppId: 'agent-app' } }, 'mine'],
    ['the agent’s', { agent: { ...customer, clientAppId: ' agent-app ' } }, 'agent-app'],
    ['that of such people', { agent: staff }, 'staff-app'],
    ['that of all', { deployment: { ...deployment, extClientId: ' ' } }, 'any-app'],
  ])('[AUTH-12] takes the client id in its order: %s', (_what, facts, clientId) => {
    expect(plan(facts).clientId).toBe(clientId)
  })

  it('allows plain http on this machine', () => {
    const local = { ...metadata, authenticationDetails: { oAuthCustomer: login('http://127.0.0.1:8600') } }
    expect(plan({ metadata: local }).authority).toBe('http://127.0.0.1:8600/gate/people-in')
  })

  it.each<[string, Partial<LoginFacts>, RegExp]>([
    ['an agent without a user type', { agent: { userType: 'other' } }, /has no user type/],
    ['empty metadata', { metadata: {} }, /the address of the login page is missing/],
    [
      'a login without a token endpoint',
      { metadata: { ...metadata, authenticationDetails: { oAuthCustomer: [{ authURL: 'https://a.test/b' }] } } },
      /the address of the token endpoint is missing/,
    ],
    ['no policy', { metadata: { ...metadata, idpPolicies: null } }, /the policy of the login is missing/],
    [
      'no client id',
      { deployment: { apiDomain: 'a.test' } },
      /has no client id for a login\. Pass one with --client-id/,
    ],
    [
      'plain http elsewhere',
      { metadata: { ...metadata, authenticationDetails: { oAuthCustomer: login('http://people.test') } } },
      /people\.test, does not use https/,
    ],
    [
      'an address of another kind',
      { metadata: { ...metadata, authenticationDetails: { oAuthCustomer: login('file://127.0.0.1') } } },
      /does not use https/,
    ],
  ])('says what is wrong with %s', (_what, facts, text) => {
    const attempt = () => plan(facts)
    expect(attempt).toThrow(CommandFailure)
    expect(attempt).toThrow(text)
  })
})

describe('loginMetadataPath', () => {
  const ofTenant = '/core/authmgr/v3/metadata/tenant/T1'
  const ofDeployment = '/core/authmgr/v3/metadata/deployment'

  it.each([
    [staff, deployment, ofTenant],
    [customer, deployment, ofTenant],
    [staff, { ...deployment, intClientId: '' }, ofDeployment],
    [customer, { ...deployment, extClientId: null }, ofDeployment],
    [customer, { ...deployment, tenantId: null }, ofDeployment],
  ])('for %j of %j', (agent, info, path) => {
    expect(loginMetadataPath(agent, info)).toBe(path)
  })
})
