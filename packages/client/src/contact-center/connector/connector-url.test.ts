import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../errors.ts'
import type { EnvironmentName } from '../../init-params.ts'
import { type AiAgentConnectorConfig, resolveConnectorScript } from './connector-url.ts'

const PATH = 'web/static/connector-ai-agent.js'
const PAGE = 'https://host.example/desk/chat?platform=evil'
const baseUrls = { dev: 'https://dev.example', qa: 'https://qa.example/connectors/', prod: 'https://prod.example' }

function resolve(
  config: AiAgentConnectorConfig,
  platform = 'standalone',
  environment: EnvironmentName = 'prod',
  pageUrl: string | undefined = PAGE,
) {
  return resolveConnectorScript({ config, platform, environment, pageUrl })
}

/** The rejected field. */
function refusal(call: () => unknown): string | undefined {
  try {
    call()
  } catch (error) {
    if (error instanceof ConfigError && error.code === 'CONFIG_INVALID') return error.field
    throw error
  }
  return undefined
}

describe('the address of a connector', () => {
  it.each<[string, EnvironmentName, string]>([
    ['standalone', 'prod', 'https://prod.example/ai-agent-connector-standalone/'],
    ['test', 'prod', 'https://prod.example/ai-agent-connector-standalone/'],
    ['Desk-2', 'dev', 'https://dev.example/ai-agent-connector-desk-2/'],
    [' TEST ', 'qa', 'https://qa.example/connectors/ai-agent-connector-standalone/'],
    ['test', 'non-prod', 'http://127.0.0.1:8600/connectors/ai-agent-connector-standalone/'],
  ])('[INIT-10] of platform %j in %s starts with %s', (platform, environment, start) => {
    const bases = { ...baseUrls, 'non-prod': 'http://127.0.0.1:8600/connectors//' }
    expect(resolve({ baseUrls: bases }, platform, environment).url).toBe(start + PATH)
  })

  it('[CFG-13] is connectorUrl if that is set, regardless of platform and environment', () => {
    const connectorUrl = ' https://cdn.example/v2/desk.js?x=1 '
    expect(resolve({ connectorUrl, baseUrls }, '../no name', 'dev').url).toBe('https://cdn.example/v2/desk.js?x=1')
    expect(resolve({ connectorUrl: ' ', baseUrls }).url).toContain('https://prod.example/')
  })

  it('[INIT-10] reports what to configure if there is neither a base for the environment nor a connectorUrl', () => {
    expect(() => resolve({ baseUrls }, 'standalone', 'non-prod')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        field: 'connector',
        message: expect.stringMatching(/'non-prod'.*connector\.baseUrls.*connector\.connectorUrl/),
      }),
    )
    expect(refusal(() => resolve({ baseUrls: { prod: ' ' } }))).toBe('connector')
    expect(refusal(() => resolve({}))).toBe('connector')
  })

  it.each(['../evil', 'a/b', 'a\\b', '%2e%2e', '1desk', '-desk', 'desk.js', 'désk', 'a?b', 'a#b', '', ' '])(
    'is rejected for the platform %j',
    platform => {
      expect(refusal(() => resolve({ baseUrls }, platform))).toBe('initParams.platform')
    },
  )

  it('never leaves the folder of the base, for any platform', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 9 }),
          fc.stringMatching(/^[a-z./\\%-]{1,9}$/),
          fc.stringMatching(/^[a-zA-Z][a-z0-9-]{0,9}$/),
        ),
        platform => {
          const config = { baseUrls: { prod: 'https://prod.example/connectors' } }
          if (refusal(() => resolve(config, platform)) === 'initParams.platform') return
          expect(resolve(config, platform).url).toMatch(
            /^https:\/\/prod\.example\/connectors\/ai-agent-connector-[a-z][a-z0-9-]*\/web\/static\/connector-ai-agent\.js$/,
          )
        },
      ),
    )
  })

  it.each([
    ['host.example/connectors'],
    ['/connectors'],
    ['javascript:alert(1)//'],
    ['data:text/javascript,1'],
    ['file:///opt'],
    ['https://user@prod.example'],
    ['https://prod.example/?next='],
    ['https://prod.example/#'],
  ])('is rejected for the base %s in a page', base => {
    expect(refusal(() => resolve({ baseUrls: { prod: base } }))).toBe('connector.baseUrls.prod')
  })

  it.each([
    ['javascript:alert(1)'],
    ['data:text/javascript,1'],
    ['blob:https://host.example/1'],
    ['file:///opt/desk.js'],
    ['https://host.example@evil.example/desk.js'],
    ['https://'],
    // Without a scheme they name no origin, and these leave the page's.
    ['//evil.example/desk.js'],
    ['/\\evil.example/desk.js'],
    ['\\\\evil.example/desk.js'],
  ])('is rejected for the connectorUrl %s in a page', connectorUrl => {
    expect(refusal(() => resolve({ connectorUrl }))).toBe('connector.connectorUrl')
  })

  it('may omit its scheme if it stays on an allowed origin', () => {
    expect(resolve({ connectorUrl: '/desk.js' }).url).toBe('https://host.example/desk.js')
    expect(resolve({ connectorUrl: 'desk.js' }).url).toBe('https://host.example/desk/desk.js')
    const connectorUrl = '//cdn.example/desk.js'
    expect(resolve({ connectorUrl, allowedOrigins: ['https://cdn.example'] }).url).toBe('https://cdn.example/desk.js')
    expect(resolve({ connectorUrl, baseUrls: { dev: 'https://cdn.example/x' } }).url).toBe(
      'https://cdn.example/desk.js',
    )
    expect(refusal(() => resolve({ connectorUrl, allowedOrigins: ['http://cdn.example', 'nonsense'] }))).toBe(
      'connector.connectorUrl',
    )
  })

  it('is compared with the configured bases, even if one is undefined', () => {
    const config = { connectorUrl: '/desk.js', baseUrls: { dev: undefined as never } }
    expect(resolve(config).url).toBe('https://host.example/desk.js')
  })

  it.each<[AiAgentConnectorConfig, string | undefined, RegExp]>([
    [{ connectorUrl: '/desk.js' }, undefined, /connectorUrl`.*with its scheme/],
    [{ connectorUrl: '//evil.example/x.js' }, undefined, /https:\/\/evil\.example.*connector\.allowedOrigins/],
    [{ connectorUrl: 'ftp://evil.example/x.js' }, undefined, /scheme 'ftp:'.*Give an https: address/],
    [{ connectorUrl: 'https://a@evil.example/x.js' }, undefined, /connectorUrl`.*user name/],
    [{ connectorUrl: 'https://:b@evil.example/x.js' }, undefined, /connectorUrl`.*user name/],
    [{ baseUrls: { prod: 'nonsense' } }, undefined, /baseUrls\.prod`.*with its scheme/],
    [{ baseUrls: { prod: 'https://a.example/?x' } }, undefined, /baseUrls\.prod`.*query/],
    [{ baseUrls, integrity: 'abc' }, undefined, /integrity`.*sha384/],
    [{ baseUrls }, '../desk', /platform`.*letters, digits and hyphens/],
  ])('reports the problem and the remedy for %j and the platform %s', (config, platform, words) => {
    const pageUrl = config.connectorUrl === '/desk.js' ? undefined : PAGE
    const input = { config, platform: platform ?? 'test', environment: 'prod', pageUrl } as const
    expect(() => resolveConnectorScript(input)).toThrow(words)
  })

  it('may be a file outside a browser, and needs its scheme there', () => {
    const outside = (config: AiAgentConnectorConfig) =>
      resolveConnectorScript({ config, platform: 'test', environment: 'dev' })
    expect(outside({ connectorUrl: 'file:///opt/desk.mjs' }).url).toBe('file:///opt/desk.mjs')
    expect(outside({ baseUrls: { dev: 'file:///opt/connectors' } }).url).toBe(
      `file:///opt/connectors/ai-agent-connector-standalone/${PATH}`,
    )
    for (const connectorUrl of ['/opt/desk.mjs', './desk.mjs', 'node:fs', 'data:text/javascript,1'])
      expect(refusal(() => outside({ connectorUrl }))).toBe('connector.connectorUrl')
  })

  it('is returned with the integrity and the nonce of the config', () => {
    const integrity = ' sha384-AbC+/09==  sha512-x_y-z '
    expect(resolve({ baseUrls, integrity, nonce: 'n' })).toEqual({
      url: `https://prod.example/ai-agent-connector-standalone/${PATH}`,
      integrity: integrity.trim(),
      nonce: 'n',
    })
  })

  it.each(['', 'abc', 'md5-abc', 'sha384-', 'sha256-abc nonsense', 'sha256 abc', 'xsha256-abc', 'sha256-abc==='])(
    'is rejected with the integrity %j, which a browser would ignore',
    integrity => {
      expect(refusal(() => resolve({ baseUrls, integrity }))).toBe('connector.integrity')
    },
  )
})
