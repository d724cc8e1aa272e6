import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { ApiErrorOptions, SDKErrorOptions } from './errors.ts'
import {
  ApiError,
  type ApiErrorReason,
  AuthError,
  type AuthErrorReason,
  ConfigError,
  ConnectionError,
  type ConnectionErrorReason,
  ConnectorError,
  InitializationPipelineError,
  type InitializationPipelineErrorCode,
  type InitializationPipelineErrorOptions,
  type InitializationPipelineStage,
  MessageError,
  type MessageErrorReason,
  SDKError,
  type SDKErrorCode,
} from './index.ts'

const call = { reason: 'status', method: 'GET', path: '/portals' } as const

describe('errors', () => {
  it('SDKErrorCode: a known code', () => {
    assertType<SDKErrorCode>('CONNECTION_ERROR')
    assertType<SDKErrorCode>('NO_PORTALS')
    // @ts-expect-error a reason is not a code
    assertType<SDKErrorCode>('attempts_used_up')
  })

  it('SDKError: has a code', () => {
    assertType<SDKError>(new SDKError('It was aborted.', 'ABORTED'))
    expectTypeOf<SDKError['code']>().toEqualTypeOf<SDKErrorCode>()
    // @ts-expect-error a plain Error has no code
    assertType<SDKError>(new Error('It was aborted.'))
    assertType<SDKErrorOptions>({ cause: 'anything that was thrown' })
    // @ts-expect-error the code is not an option
    assertType<SDKErrorOptions>({ code: 'ABORTED' })
  })

  it('ConfigError: names the field', () => {
    assertType<ConfigError>(new ConfigError('endpoint', '`endpoint` is missing.'))
    // @ts-expect-error the field is missing
    assertType<ConfigError>(new SDKError('`endpoint` is missing.', 'CONFIG_INVALID'))
  })

  it('AuthError, AuthErrorReason: has a reason', () => {
    assertType<AuthError>(new AuthError('The window was closed.', 'popup_closed', { status: 401 }))
    expectTypeOf<AuthError['reason']>().toEqualTypeOf<AuthErrorReason>()
    // @ts-expect-error another error class
    assertType<AuthError>(new MessageError('The queue is full.', 'queue_full'))
    assertType<AuthErrorReason>('interaction_required')
    // @ts-expect-error a code is not a reason
    assertType<AuthErrorReason>('AUTH_ERROR')
  })

  it('ConnectionError, ConnectionErrorReason: has a reason', () => {
    assertType<ConnectionError>(new ConnectionError('It was refused.', 'refused', { closeCode: 1006, httpStatus: 503 }))
    // @ts-expect-error the close code is missing
    assertType<ConnectionError>(new SDKError('It was refused.', 'CONNECTION_ERROR'))
    assertType<ConnectionErrorReason>('no_address')
    // @ts-expect-error a number is not a reason
    assertType<ConnectionErrorReason>(1006)
  })

  it('MessageError, MessageErrorReason: has a reason', () => {
    assertType<MessageError>(new MessageError('The queue is full.', 'queue_full', { messageId: 'm-1' }))
    // @ts-expect-error another error class
    assertType<MessageError>(new ConnectionError('It was refused.', 'refused'))
    assertType<MessageErrorReason>('encoding_failed')
    // @ts-expect-error unknown reason
    assertType<MessageErrorReason>('too_long')
  })

  it('ConnectorError: has the address of the script', () => {
    assertType<ConnectorError>(new ConnectorError('It did not load.', 'https://desk.example.test/script.js'))
    // @ts-expect-error the address is missing
    assertType<ConnectorError>(new SDKError('It did not load.', 'CONNECTOR_FAILED'))
  })

  it('InitializationPipelineError: has a code and a stage', () => {
    const error = new InitializationPipelineError('There are none.', 'NO_PORTALS', { stage: 'portal' })
    assertType<InitializationPipelineError>(error)
    expectTypeOf(error.pipelineCode).toEqualTypeOf<InitializationPipelineErrorCode>()
    expectTypeOf(error.stage).toEqualTypeOf<InitializationPipelineStage>()
    // @ts-expect-error the stage is missing
    assertType<InitializationPipelineError>(new SDKError('There are none.', 'NO_PORTALS'))
    assertType<InitializationPipelineErrorCode>('PROFILE_PERSIST_FAILED')
    // @ts-expect-error not a code of the pipeline
    assertType<InitializationPipelineErrorCode>('API_ERROR')
    assertType<InitializationPipelineStage>('profile')
    // @ts-expect-error unknown stage
    assertType<InitializationPipelineStage>('chat')
    assertType<InitializationPipelineErrorOptions>({ stage: 'agent', portal: { id: 1001 }, cause: error })
    // @ts-expect-error the stage is missing
    assertType<InitializationPipelineErrorOptions>({ portal: { id: 1001 } })
  })

  it('ApiError: has method, path and response', () => {
    assertType<ApiError>(new ApiError('It answered 500.', { ...call, status: 500, body: { message: 'Oops' } }))
    // @ts-expect-error the call is missing
    assertType<ApiError>(new SDKError('It answered 500.', 'API_ERROR'))
    assertType<ApiErrorReason>('timeout')
    // @ts-expect-error a status is not a reason
    assertType<ApiErrorReason>(500)
    assertType<ApiErrorOptions>({ ...call, code: 'SESSION_UNAUTHORIZED' })
    // @ts-expect-error not a code of ApiError
    assertType<ApiErrorOptions>({ ...call, code: 'CONNECTION_ERROR' })
  })
})
