import { assertType, describe, it } from 'vitest'
import {
  ApiHelper,
  type ApiHelperConfig,
  type GetAgentDetailsOptions,
  type GetAgentsByPortalOptions,
  type GetAiAgentSessionOptions,
  type GetConnectedAppsOptions,
  type GetCustomerDetailsOptions,
  type GetMaskingPatternsOptions,
  type GetMyPortalsOptions,
  type GetPortalDetailsOptions,
  type GetPortalsOptions,
  type GetPreviousTranscriptOptions,
  type GetUserDetailsOptions,
  type GetUserProfilesOptions,
  type SelectUserProfileOptions,
} from '../index.ts'
import type { ApiCallOptions, GetDeploymentInfoOptions } from './api-options.ts'

describe('ApiHelper', () => {
  it('ApiHelperConfig requires the domain only', () => {
    assertType<ApiHelperConfig>({ apiDomain: 'api.example.test', getToken: async () => null, cache: { ttl: 1 } })
    // @ts-expect-error the domain is missing
    assertType<ApiHelperConfig>({ language: 'en-us' })
    assertType<ApiHelper>(new ApiHelper({ apiDomain: 'api.example.test' }))
    // @ts-expect-error an object with the same members is not a helper
    assertType<ApiHelper>({ ...new ApiHelper({ apiDomain: 'api.example.test' }) })
  })

  it('accepts a token and a signal with every call', () => {
    assertType<ApiCallOptions>({ authToken: 'secret', signal: new AbortController().signal })
    // @ts-expect-error a controller is not a signal
    assertType<ApiCallOptions>({ signal: new AbortController() })
    assertType<GetUserDetailsOptions>({ authToken: 'secret' })
    // @ts-expect-error a token is a string
    assertType<GetUserDetailsOptions>({ authToken: 7 })
    assertType<GetCustomerDetailsOptions>({ authToken: 'secret' })
    // @ts-expect-error a token is a string
    assertType<GetCustomerDetailsOptions>({ authToken: 7 })
  })

  it('loads the deployment info without a token', () => {
    assertType<GetDeploymentInfoOptions>({ signal: new AbortController().signal })
    // @ts-expect-error the call sends no token
    assertType<GetDeploymentInfoOptions>({ authToken: 'secret' })
  })

  it('loads an agent by its id', () => {
    assertType<GetAgentDetailsOptions>({ agentId: 'help' })
    // @ts-expect-error the id is missing
    assertType<GetAgentDetailsOptions>({ authToken: 'secret' })
    assertType<GetAiAgentSessionOptions>({ agentId: 'help', context: { plan: 'gold' } })
    // @ts-expect-error a context is attributes by name
    assertType<GetAiAgentSessionOptions>({ agentId: 'help', context: 'gold' })
    assertType<GetConnectedAppsOptions>({ tenantId: 'T1', agentId: 'help' })
    // @ts-expect-error the tenant is missing
    assertType<GetConnectedAppsOptions>({ agentId: 'help' })
    assertType<GetPreviousTranscriptOptions>({ agentId: 'help', sessionId: 's-1' })
    // @ts-expect-error the session is missing
    assertType<GetPreviousTranscriptOptions>({ agentId: 'help' })
  })

  it('loads portals and profiles by ids that are strings or numbers', () => {
    assertType<GetPortalsOptions>({ departmentId: 999, userId: 'u-1' })
    // @ts-expect-error a department has one id
    assertType<GetPortalsOptions>({ departmentId: [999] })
    assertType<GetMyPortalsOptions>({ shortUrlTemplate: 'web' })
    // @ts-expect-error the name of a template is a string
    assertType<GetMyPortalsOptions>({ shortUrlTemplate: true })
    assertType<GetPortalDetailsOptions>({ portalId: '1001' })
    // @ts-expect-error the portal is missing
    assertType<GetPortalDetailsOptions>({})
    assertType<GetAgentsByPortalOptions>({ departmentId: '999', portalId: 1001 })
    // @ts-expect-error the department is missing
    assertType<GetAgentsByPortalOptions>({ portalId: 1001 })
    assertType<GetUserProfilesOptions>({ portalId: 1001 })
    // @ts-expect-error a portal is identified by its id
    assertType<GetUserProfilesOptions>({ portalId: { id: 1001 } })
    assertType<SelectUserProfileOptions>({ portalId: 1001, profileId: '10' })
    // @ts-expect-error the profile is missing
    assertType<SelectUserProfileOptions>({ portalId: 1001 })
  })

  it('loads the masking rules of a department', () => {
    assertType<GetMaskingPatternsOptions>({ departmentId: 999, channel: 'chat' })
    // @ts-expect-error the department is missing
    assertType<GetMaskingPatternsOptions>({ channel: 'chat' })
  })

  it('ApiHelper has the calls of ApiHelper', () => {
    assertType<ApiHelper>(new ApiHelper({ apiDomain: 'api.example.test' }))
    // @ts-expect-error the calls are missing
    assertType<ApiHelper>({})
  })
})
