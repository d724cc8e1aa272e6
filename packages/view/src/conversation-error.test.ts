import {
  ApiError,
  type ApiErrorReason,
  AuthError,
  ConfigError,
  ConnectionError,
  MessageError,
  SDKError,
} from '@aiagent/client'
import { describe, expect, it } from 'vitest'
import { rejection } from '../../client/test/agent-harness.ts'
import { setUpView } from '../test/view-harness.ts'
import { describeError } from './conversation-error.ts'

const failedCall = (reason: ApiErrorReason, status?: number) =>
  new ApiError('x', { reason, method: 'GET', path: '/', status })
const api = (status: number) => failedCall('status', status)

describe('the code of an error', () => {
  it.each([
    [new ConnectionError('x', 'attempts_used_up'), 'service_unavailable', 'retry'],
    [api(503), 'service_unavailable', 'retry'],
    [api(429), 'service_unavailable', 'retry'],
    [failedCall('network'), 'service_unavailable', 'retry'],
    [new AuthError('x', 'token_request_failed'), 'service_unavailable', 'retry'],
    [api(401), 'login_required', 'login'],
    [new AuthError('x', 'popup_closed'), 'login_required', 'login'],
    [new AuthError('x', 'interaction_required'), 'login_required', 'login'],
    [new MessageError('x', 'queue_full'), 'queue_full', 'wait'],
    [new SDKError('x', 'MODULE_LOAD_FAILED'), 'reload_required', 'reload'],
    [new MessageError('x', 'refused'), 'action_failed', 'none'],
    [new SDKError('x', 'INVALID_SELECTION'), 'action_failed', 'none'],
    [new TypeError('of the host'), 'action_failed', 'none'],
    ['a text', 'action_failed', 'none'],
    [api(404), 'not_available', 'none'],
    [failedCall('redirect', 302), 'not_available', 'none'],
    [new AuthError('x', 'token_request_failed', { cause: failedCall('redirect') }), 'not_available', 'none'],
    [new SDKError('x', 'PORTAL_FETCH_FAILED', { cause: failedCall('redirect') }), 'not_available', 'none'],
    [failedCall('timeout'), 'service_unavailable', 'retry'],
    [failedCall('body', 200), 'service_unavailable', 'retry'],
    [new AuthError('x', 'toString' as never), 'not_available', 'none'],
    [new SDKError('x', 'constructor' as never), 'not_available', 'none'],
    [new AuthError('x', 'browser_unsupported'), 'not_available', 'none'],
    [new ConfigError('connector', 'x'), 'not_available', 'none'],
    [new SDKError('x', 'NO_PORTALS'), 'not_available', 'none'],
  ] as const)('[REL-198] of %s is %s, with the remedy %s', (error, code, remedy) => {
    expect(describeError(error, false, false)).toMatchObject({ code, remedy, error })
    expect(describeError(error, false, true).remedy).toBe(remedy === 'retry' ? 'wait' : remedy)
  })

  it('[REL-198] tells that the host has destroyed the agent, when it is started again', async () => {
    const { openView } = setUpView()
    const { view, agent } = await openView()
    await agent.destroy()
    expect(view.getSnapshot().error).toBeUndefined()
    await rejection(view.start())
    expect(view.getSnapshot()).toMatchObject({
      connection: { state: 'closed' },
      error: { code: 'agent_destroyed', remedy: 'reload', error: { code: 'ABORTED' } },
    })
    expect(view.getSnapshot().error?.message).toContain('Create a new AiAgent')
  })

  it('[REL-198] is in the snapshot, which stays the same', async () => {
    const { load, show, emulator } = setUpView()
    const { agent } = load()
    const view = show(agent)
    emulator.faults.add({ kind: 'answer', status: 503 })
    await rejection(view.start())
    const snapshot = view.getSnapshot()
    expect(snapshot).toMatchObject({ connection: { state: 'failed' }, error: { code: 'service_unavailable' } })
    expect(view.getSnapshot()).toBe(snapshot)
    await agent.destroy()
  })
})
