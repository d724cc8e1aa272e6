import { paths } from '@aiagent/protocol'
import { base64url } from 'jose'
import { describe, expect, it } from 'vitest'
import { createEmulator } from '../emulator.ts'
import { answerPageLogin, readPageLogin } from './page-login.ts'

const PAGE = 'https://shop.example/playground/login.html'
const VERIFIER = 'a-verifier-of-at-least-forty-three-characters'

function start() {
  const emulator = createEmulator({ origin: 'https://emulator.test', loginPage: PAGE })
  const redirectUri = new URL('signed-in.html', PAGE).href
  const config = emulator.pkceConfig({ redirectUri, userType: 'agent' })
  const read = async (address: string, form?: Record<string, string>) => {
    const init = form && { method: 'POST', body: new URLSearchParams(form) }
    const response = await emulator.fetch(address, init)
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const configuration = async () => (await read(`${config.authorizationUrl}/.well-known/openid-configuration`)).body
  const authorize = async () => {
    const { authorization_endpoint = '' } = await configuration()
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(VERIFIER))
    const address = new URL(authorization_endpoint)
    const parameters = {
      client_id: config.clientId,
      redirect_uri: redirectUri,
      scope: config.scopes.join(' '),
      state: 'state-1',
      code_challenge: base64url.encode(new Uint8Array(digest)),
    }
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
    return address.href
  }
  const exchange = async (form: Record<string, string>) => {
    const { token_endpoint = '' } = await configuration()
    return read(token_endpoint, { client_id: config.clientId, redirect_uri: redirectUri, ...form })
  }
  const redeem = (code: string | null, code_verifier = VERIFIER) =>
    exchange({ grant_type: 'authorization_code', code: code ?? '', code_verifier })
  return { emulator, authorize, exchange, redeem }
}

const codeIn = (address: string) => new URL(address).searchParams.get('code')

describe('a login on a page of the host', () => {
  it('[PLAY-01] issues tokens for a code, once, and renews them', async () => {
    const { emulator, authorize, exchange, redeem } = start()
    const address = await authorize()
    expect(readPageLogin(address, emulator.world.tenants)).toEqual({
      kind: 'sign-in',
      userType: 'agent',
      tenantId: 'TEN0001',
      returnTo: 'https://shop.example/playground/signed-in.html',
      isSilent: false,
    })
    const answer = answerPageLogin(address, 'desk-agent')
    expect(new URL(answer).searchParams.get('state')).toBe('state-1')
    const first = await redeem(codeIn(answer))
    expect(first).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } })
    const headers = { authorization: `Bearer ${first.body['access_token']}` }
    const portals = await emulator.fetch(emulator.origin + paths.myPortals(), { headers })
    expect(portals.status).toBe(200)
    expect((await redeem(codeIn(answer))).body).toMatchObject({ error: 'invalid_grant' })

    const renewal = { grant_type: 'refresh_token', refresh_token: first.body['refresh_token'] ?? '' }
    expect((await exchange(renewal)).status).toBe(200)
    expect((await exchange(renewal)).body).toMatchObject({ error: 'invalid_grant' })
  })

  it('[PLAY-01] refuses another verifier, a changed code, and a user of another login', async () => {
    const { authorize, redeem } = start()
    const address = await authorize()
    const code = codeIn(answerPageLogin(address, 'desk-agent'))
    for (const attempt of [redeem(code, 'another verifier'), redeem(`${code}x`), redeem(''), redeem('e30')])
      expect(await attempt).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const other = codeIn(answerPageLogin(address, 'customer'))
    expect(await redeem(other)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('passes on that the user cancelled, or that a hidden frame needs the user', async () => {
    const { authorize } = start()
    const address = await authorize()
    expect(new URL(answerPageLogin(address, undefined)).searchParams.get('error')).toBe('access_denied')
    const silent = `${address}&prompt=none`
    expect(new URL(answerPageLogin(silent, undefined)).searchParams.get('error')).toBe('login_required')
  })

  it('[PLAY-01] accepts no address that returns to another origin', async () => {
    const { emulator, authorize } = start()
    const address = new URL(await authorize())
    address.searchParams.set('redirect_uri', 'https://evil.example/')
    expect(readPageLogin(address.href, emulator.world.tenants)).toBeUndefined()
    address.searchParams.set('login', '/nowhere')
    expect(readPageLogin(address.href, emulator.world.tenants)).toBeUndefined()
  })
})
