import {
  ApiError,
  AuthError,
  ConfigError,
  ConnectionError,
  InitializationPipelineError,
  type InitializationPipelineErrorCode,
  MessageError,
  SDKError,
} from '@aiagent/client'
import { describe, expect, it } from 'vitest'
import { explainFailure } from './failure.ts'

const setting = { endpoint: 'https://a.test', agent: 'help' }

const call = (options: Partial<ConstructorParameters<typeof ApiError>[1]>) =>
  new ApiError('getX failed: status 418.', { reason: 'status', method: 'GET', path: '/x', ...options })
const broken = (code: string) =>
  call({
    reason: 'network',
    cause: new TypeError('fetch failed', { cause: Object.assign(new Error('inner'), { code }) }),
  })

const onTheWay = (code: InitializationPipelineErrorCode, cause?: unknown) =>
  new InitializationPipelineError('It went wrong.', code, { stage: 'portal', portal: { id: 7 }, cause })

describe('explainFailure', () => {
  it.each<[string, unknown, string]>([
    ['nobody known', onTheWay('AUTH_TOKEN_REQUIRED'), 'Sign in with --login, or pass an access token with --token'],
    ['no portal', onTheWay('NO_PORTALS'), 'No portal is available to both you and this agent.'],
    ['no portal left by a connector', onTheWay('NO_PORTALS', new Error('x')), 'It went wrong.'],
    ['no department', onTheWay('DEPARTMENT_ID_REQUIRED'), '--init-param departmentId=<id>'],
    [
      'a portal for others',
      onTheWay('PORTAL_DETAILS_FAILED', call({ status: 403 })),
      'You have no access to the portal 7.',
    ],
    [
      'a list that the network lost',
      onTheWay('PORTAL_FETCH_FAILED', broken('ECONNREFUSED')),
      'No service answers at https',
    ],
    ['anything else', onTheWay('PROFILE_PERSIST_FAILED', call({ status: 500 })), 'It went wrong.'],
  ])('describes a failed portal selection: %s', (_what, error, text) => {
    expect(explainFailure(error, setting)).toContain(text)
  })

  it.each<[string, unknown, RegExp]>([
    [
      'a closed port',
      broken('ECONNREFUSED'),
      /^No service answers at https:\/\/a\.test \(ECONNREFUSED\)\. Check the address/,
    ],
    [
      'an address that is none',
      broken('ERR_INVALID_URL'),
      /^--endpoint is not the address of a deployment\. Pass https:\/\/host/,
    ],
    ['an unknown host', broken('ENOTFOUND'), /unknown host \(ENOTFOUND\)\. Check the address\.$/],
    ['a certificate of one’s own', broken('DEPTH_ZERO_SELF_SIGNED_CERT'), /not trusted.*NODE_EXTRA_CA_CERTS/],
    ['a certificate that has expired', broken('CERT_HAS_EXPIRED'), /has expired.*must renew it\.$/],
    [
      'a certificate of another host',
      broken('ERR_TLS_CERT_ALTNAME_INVALID'),
      /is for another host.*Check the host name/,
    ],
    ['http where https is asked', broken('ERR_SSL_WRONG_VERSION_NUMBER'), /does not speak https.*Check the scheme/],
    [
      'a closed connection',
      broken('UND_ERR_SOCKET'),
      /closed the connection without an answer \(UND_ERR_SOCKET\)\. Check/,
    ],
    ['a network error without a code', call({ reason: 'network' }), /^Could not reach/],
    [
      'several addresses that all refuse',
      call({
        reason: 'network',
        cause: new AggregateError([Object.assign(new Error('::1'), { code: 'ECONNREFUSED' }), new Error('127.0.0.1')]),
      }),
      /ECONNREFUSED/,
    ],
    ['no answer in time', call({ reason: 'timeout' }), /did not answer in time/],
    ['an answer of something else', call({ reason: 'body' }), /not like a deployment\. Check --endpoint/],
    [
      'an unknown agent',
      call({ status: 404, path: '/agents/help/details', body: { message: 'No such agent.' } }),
      /^https:\/\/a\.test has no agent "help"\. Check --agent; the service says: No such agent\.$/,
    ],
    ['a refused token', call({ status: 401 }), /denies access \(HTTP 401\)\. Pass a valid access token with --token/],
    [
      'a refused token, with the reason of the service',
      call({ status: 401, body: { message: 'The token has expired.' } }),
      /denies access \(HTTP 401\); the service says: The token has expired\. Pass .*"aiagent token" shows/,
    ],
    ['a path that is not there', call({ status: 404, path: '/deployment' }), /has nothing at \/deployment/],
    ['trouble of the service', call({ status: 503 }), /failed \(HTTP 503\)/],
    ['a rate limit', call({ status: 429 }), /limits the rate of calls \(HTTP 429\)\. Wait/],
    ['another status', call({ status: 418 }), /^getX failed: status 418\.$/],
    ['an agent that wants a name', new AuthError('x', 'interaction_required'), /--token/],
    ['a missing token', new AuthError('x', 'token_missing'), /access token is not usable/],
    [
      'a failed token request',
      new AuthError('Refused.', 'token_request_failed', { status: 400 }),
      /Could not obtain an access token from https:\/\/a\.test: Refused\./,
    ],
    [
      'a refused upgrade',
      new ConnectionError('x', 'refused', { httpStatus: 403 }),
      /Could not open the chat.*\(HTTP 403\)/,
    ],
    [
      'a session that is not known',
      new ConnectionError('x', 'refused', { httpStatus: 410 }),
      /session is unknown.*--session/,
    ],
    ['a chat that does not open', new ConnectionError('x', 'timeout'), /did not open in time/],
    [
      'a chat that is closed at once',
      new ConnectionError('x', 'closed', { closeCode: 1013 }),
      /closed the chat \(code 1013\)/,
    ],
    ['a full queue', new MessageError('x', 'queue_full'), /queue .* is full/],
    [
      'an invalid address',
      new ConfigError('endpoint', '`endpoint` is not an address.'),
      /^--endpoint is not an address\.$/,
    ],
    ['a missing agent id', new ConfigError('id', '`id` is missing.'), /^--agent is missing\.$/],
    ['an invalid session id', new SDKError('x', 'SESSION_ID_INVALID'), /session id is not usable/],
    ['anything else', new Error('The folder\nis empty.'), /^The folder is empty\.$/],
    ['a thrown value that is not an Error', 'oops', /^Unexpected error: oops$/],
  ])('says what to do: %s', (_what, error, text) => {
    expect(explainFailure(error, setting)).toMatch(text)
  })

  it.each(['http://a.test', 'ws://a.test'])('supposes https behind %s, which closes the connection', endpoint => {
    expect(explainFailure(broken('ECONNRESET'), { endpoint })).toContain('It may expect https.')
  })
})
