import { assertType, describe, it } from 'vitest'
import {
  type ApiCallOptions,
  ApiHelper,
  type ApiHelperConfig,
  type GetAgentDetailsOptions,
  type GetAgentsByPortalOptions,
  type GetAiAgentSessionOptions,
  type GetConnectedAppsOptions,
  type GetCustomerDetailsOptions,
  type GetDeploymentInfoOptions,
  type GetMaskingPatternsOptions,
  type GetMyPortalsOptions,
  type GetPortalDetailsOptions,
  type GetPortalsOptions,
  type GetPreviousTranscriptOptions,
  type GetUserDetailsOptions,
  type GetUserProfilesOptions,
  type RestApi,
  type SelectUserProfileOptions,
} from '../index.ts'

describe('ApiHelper', () => {
  it('needs to know the domain, and nothing more', () => {
    assertType<ApiHelperConfig>({ apiDomain: 'api.example.test', getToken: async () => null, cache: { ttl: 1 } })
    // @ts-expect-error the domain is missing
    assertType<ApiHelperConfig>({ language: 'en-us' })
    assertType<ApiHelper>(new ApiHelper({ apiDomain: 'api.example.test' }))
    // @ts-expect-error a helper keeps its own state: an object that looks like one is none
    assertType<ApiHelper>({ ...new ApiHelper({ apiDomain: 'api.example.test' }) })
  })

  it('takes a token and a signal with every call', () => {
    assertType<ApiCallOptions>({ authToken: 'secret', signal: new AbortController().signal })
    // @ts-expect-error a controller is no signal
    assertType<ApiCallOptions>({ signal: new AbortController() })
    assertType<GetUserDetailsOptions>({ authToken: 'secret' })
    // @ts-expect-error a token is text
    assertType<GetUserDetailsOptions>({ authToken: 7 })
    assertType<GetCustomerDetailsOptions>({ authToken: 'secret' })
    // @ts-expect-error a token is text
    assertType<GetCustomerDetailsOptions>({ authToken: 7 })
  })

  it('asks for the deployment without a token', () => {
    assertType<GetDeploymentInfoOptions>({ signal: new AbortController().signal })
    // @ts-expect-error the call carries no token
    assertType<GetDeploymentInfoOptions>({ authToken: 'secret' })
  })

  it('asks about an agent by its id', () => {
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

  it('asks about portals and their profiles by ids that are text or numbers', () => {
    assertType<GetPortalsOptions>({ departmentId: 999, userId: 'u-1' })
    // @ts-expect-error a department is named by one id
    assertType<GetPortalsOptions>({ departmentId: [999] })
    assertType<GetMyPortalsOptions>({ shortUrlTemplate: 'web' })
    // @ts-expect-error the name of a template is text
    assertType<GetMyPortalsOptions>({ shortUrlTemplate: true })
    assertType<GetPortalDetailsOptions>({ portalId: '1001' })
    // @ts-expect-error the portal is missing
    assertType<GetPortalDetailsOptions>({})
    assertType<GetAgentsByPortalOptions>({ departmentId: '999', portalId: 1001 })
    // @ts-expect-error the department is missing
    assertType<GetAgentsByPortalOptions>({ portalId: 1001 })
    assertType<GetUserProfilesOptions>({ portalId: 1001 })
    // @ts-expect-error a portal is named by its id
    assertType<GetUserProfilesOptions>({ portalId: { id: 1001 } })
    assertType<SelectUserProfileOptions>({ portalId: 1001, profileId: '10' })
    // @ts-expect-error the profile is missing
    assertType<SelectUserProfileOptions>({ portalId: 1001 })
  })

  it('asks for the masking rules of a department', () => {
    assertType<GetMaskingPatternsOptions>({ departmentId: 999, channel: 'chat' })
    // @ts-expect-error the department is missing
    assertType<GetMaskingPatternsOptions>({ channel: 'chat' })
  })

  it('RestApi: the calls that ApiHelper has', () => {
    assertType<RestApi>(new ApiHelper({ apiDomain: 'api.example.test' }))
    // @ts-expect-error the calls are missing
    assertType<RestApi>({})
  })
})
