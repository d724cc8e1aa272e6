import { ApiHelper } from '../src/api/api-helper.ts'
import type { ApiHelperConfig } from '../src/api/api-options.ts'
import { FakeService } from './fake-service.ts'

export const DETAILS = '/core/aiservices/v4/aiagent/details/agent/7'
export const SESSION = '/core/aiservices/v4/aiagent/chat/agent/7/session'
export const TOKEN = 'secret-token'

/** A helper for the calls of agent 7, and the service that answers them. */
export function setUpApi(config: Partial<ApiHelperConfig> = {}) {
  const service = new FakeService()
  const api = new ApiHelper({ apiDomain: 'api.example.test', getToken: () => TOKEN, ...config }, service.environment())
  return { service, api }
}

/** What a promise rejects with; it must. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('It should have failed.')
}
