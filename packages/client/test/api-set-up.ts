import { ApiHelper } from '../src/rest/api-helper.ts'
import type { ApiHelperConfig } from '../src/rest/api-options.ts'
import { FakeService } from './fake-service.ts'

export const DETAILS = '/core/aiservices/v4/aiagent/details/agent/7'
export const SESSION = '/core/aiservices/v4/aiagent/chat/agent/7/session'
export const TOKEN = 'secret-token'

/** Creates a helper for agent 7 and its fake service. */
export function setUpApi(config: Partial<ApiHelperConfig> = {}) {
  const service = new FakeService()
  const api = new ApiHelper({ apiDomain: 'api.example.test', getToken: () => TOKEN, ...config }, service.environment())
  return { service, api }
}

/** The error that a promise rejects with; throws if it is fulfilled. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('The promise should have been rejected.')
}
