import { ProtocolError } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import {
  ApiError,
  AuthError,
  abortedError,
  ConfigError,
  ConnectionError,
  ConnectorError,
  InitializationPipelineError,
  MessageError,
  SDKError,
} from './errors.ts'

const cause = new Error('why')

const table: Array<[string, SDKError, object]> = [
  ['SDKError', new SDKError('x', 'NOT_INITIALIZED', { cause }), { code: 'NOT_INITIALIZED' }],
  ['ConfigError', new ConfigError('id', 'x', { cause }), { code: 'CONFIG_INVALID', field: 'id' }],
  [
    'AuthError',
    new AuthError('x', 'token_request_failed', { cause, status: 400 }),
    { code: 'AUTH_ERROR', reason: 'token_request_failed', status: 400 },
  ],
  [
    'ConnectionError',
    new ConnectionError('x', 'refused', { cause, closeCode: 1006, httpStatus: 404 }),
    { code: 'CONNECTION_ERROR', reason: 'refused', closeCode: 1006, httpStatus: 404 },
  ],
  [
    'ConnectorError',
    new ConnectorError('x', 'https://prod.example/desk.js', { cause }),
    { code: 'CONNECTOR_FAILED', url: 'https://prod.example/desk.js' },
  ],
  [
    'MessageError',
    new MessageError('x', 'queue_full', { cause, messageId: 'm' }),
    { code: 'MESSAGE_ERROR', reason: 'queue_full', messageId: 'm' },
  ],
  [
    'ApiError',
    new ApiError('x', { cause, reason: 'status', method: 'GET', path: '/p', status: 500, body: {} }),
    { code: 'API_ERROR', reason: 'status', method: 'GET', path: '/p', status: 500, body: {} },
  ],
  [
    'ApiError',
    new ApiError('x', { cause, code: 'SESSION_UNAUTHORIZED', reason: 'status', method: 'POST', path: '/p' }),
    { code: 'SESSION_UNAUTHORIZED' },
  ],
]

describe('errors', () => {
  it.each(table)('[ERR-03] %s has its name, code, fields and cause', (name, error, fields) => {
    expect(error).toMatchObject({ name, message: 'x', cause, ...fields })
    expect(error).toBeInstanceOf(SDKError)
    expect(error).toBeInstanceOf(Error)
    expect(String(error)).toBe(`${name}: x`)
    expect(error.constructor.name).toBe(name)
  })

  it('[ERR-01] InitializationPipelineError carries pipelineCode, code, stage, portal and agent', () => {
    const portal = { id: 1, name: 'Support' }
    const agent = { agentId: 'a', name: 'Orders' }
    const error = new InitializationPipelineError('x', 'PROFILE_FETCH_FAILED', {
      stage: 'profile',
      portal,
      agent,
      cause,
    })
    expect(error).toBeInstanceOf(InitializationPipelineError)
    expect(error).toBeInstanceOf(SDKError)
    expect(error).toMatchObject({
      name: 'InitializationPipelineError',
      code: 'PROFILE_FETCH_FAILED',
      pipelineCode: 'PROFILE_FETCH_FAILED',
      stage: 'profile',
      portal,
      agent,
      cause,
    })
    const early = new InitializationPipelineError('x', 'AUTH_TOKEN_REQUIRED', { stage: 'start' })
    expect(early).toMatchObject({ portal: undefined, agent: undefined })
  })

  it('have no cause property without a cause', () => {
    expect('cause' in new SDKError('x', 'ABORTED')).toBe(false)
  })

  it('abortedError carries the reason of its signal as cause', () => {
    const error = abortedError('connect()', AbortSignal.abort(cause))
    expect(error).toMatchObject({ code: 'ABORTED', cause, message: 'connect() was aborted.' })
  })

  it('an unreadable frame is not repeated in the message', () => {
    const error = MessageError.unreadable(new ProtocolError('The frame is not JSON.', 'a secret text'))
    expect(error).toMatchObject({ reason: 'unreadable', cause: { data: 'a secret text' } })
    expect(error.message).not.toContain('secret')
  })
})
