import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  ApiError,
  type ApiErrorOptions,
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
  type SDKErrorOptions,
} from './index.ts'

const call = { reason: 'status', method: 'GET', path: '/portals' } as const

describe('errors', () => {
  it('SDKErrorCode: a code of the list', () => {
    assertType<SDKErrorCode>('CONNECTION_ERROR')
    assertType<SDKErrorCode>('NO_PORTALS')
    // @ts-expect-error a reason is no code
    assertType<SDKErrorCode>('attempts_used_up')
  })

  it('SDKError: one of the library, with its code', () => {
    assertType<SDKError>(new SDKError('It was aborted.', 'ABORTED'))
    expectTypeOf<SDKError['code']>().toEqualTypeOf<SDKErrorCode>()
    // @ts-expect-error another error has no code
    assertType<SDKError>(new Error('It was aborted.'))
    assertType<SDKErrorOptions>({ cause: 'anything that was thrown' })
    // @ts-expect-error the code is no option
    assertType<SDKErrorOptions>({ code: 'ABORTED' })
  })

  it('ConfigError: names the field', () => {
    assertType<ConfigError>(new ConfigError('endpoint', '`endpoint` is missing.'))
    // @ts-expect-error the field is missing
    assertType<ConfigError>(new SDKError('`endpoint` is missing.', 'CONFIG_INVALID'))
  })

  it('AuthError, AuthErrorReason: why there is no token', () => {
    assertType<AuthError>(new AuthError('The window was closed.', 'popup_closed', { status: 401 }))
    expectTypeOf<AuthError['reason']>().toEqualTypeOf<AuthErrorReason>()
    // @ts-expect-error a message is no authentication
    assertType<AuthError>(new MessageError('The queue is full.', 'queue_full'))
    assertType<AuthErrorReason>('interaction_required')
    // @ts-expect-error a code is no reason
    assertType<AuthErrorReason>('AUTH_ERROR')
  })

  it('ConnectionError, ConnectionErrorReason: why there is no chat', () => {
    assertType<ConnectionError>(new ConnectionError('It was refused.', 'refused', { closeCode: 1006, httpStatus: 503 }))
    // @ts-expect-error the close code is missing
    assertType<ConnectionError>(new SDKError('It was refused.', 'CONNECTION_ERROR'))
    assertType<ConnectionErrorReason>('no_address')
    // @ts-expect-error a number is no reason
    assertType<ConnectionErrorReason>(1006)
  })

  it('MessageError, MessageErrorReason: why a message was not taken', () => {
    assertType<MessageError>(new MessageError('The queue is full.', 'queue_full', { messageId: 'm-1' }))
    // @ts-expect-error a connection is no message
    assertType<MessageError>(new ConnectionError('It was refused.', 'refused'))
    assertType<MessageErrorReason>('encoding_failed')
    // @ts-expect-error there is no such reason
    assertType<MessageErrorReason>('too_long')
  })

  it('ConnectorError: names the script', () => {
    assertType<ConnectorError>(new ConnectorError('It did not load.', 'https://desk.example.test/script.js'))
    // @ts-expect-error the address is missing
    assertType<ConnectorError>(new SDKError('It did not load.', 'CONNECTOR_FAILED'))
  })

  it('InitializationPipelineError: the code, and where on the way', () => {
    const error = new InitializationPipelineError('There are none.', 'NO_PORTALS', { stage: 'portal' })
    assertType<InitializationPipelineError>(error)
    expectTypeOf(error.pipelineCode).toEqualTypeOf<InitializationPipelineErrorCode>()
    expectTypeOf(error.stage).toEqualTypeOf<InitializationPipelineStage>()
    // @ts-expect-error the stage is missing
    assertType<InitializationPipelineError>(new SDKError('There are none.', 'NO_PORTALS'))
    assertType<InitializationPipelineErrorCode>('PROFILE_PERSIST_FAILED')
    // @ts-expect-error what fails on the way has a code of its own
    assertType<InitializationPipelineErrorCode>('API_ERROR')
    assertType<InitializationPipelineStage>('profile')
    // @ts-expect-error a chat is no stage
    assertType<InitializationPipelineStage>('chat')
    assertType<InitializationPipelineErrorOptions>({ stage: 'agent', portal: { id: 1001 }, cause: error })
    // @ts-expect-error the stage is missing
    assertType<InitializationPipelineErrorOptions>({ portal: { id: 1001 } })
  })

  it('ApiError: which call, and what it said', () => {
    assertType<ApiError>(new ApiError('It answered 500.', { ...call, status: 500, body: { message: 'Oops' } }))
    // @ts-expect-error the call is missing
    assertType<ApiError>(new SDKError('It answered 500.', 'API_ERROR'))
    assertType<ApiErrorReason>('timeout')
    // @ts-expect-error a status is no reason
    assertType<ApiErrorReason>(500)
    assertType<ApiErrorOptions>({ ...call, code: 'SESSION_UNAUTHORIZED' })
    // @ts-expect-error only two codes belong to calls
    assertType<ApiErrorOptions>({ ...call, code: 'CONNECTION_ERROR' })
  })
})
