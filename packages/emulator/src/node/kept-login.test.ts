import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { paths } from '@aiagent/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import { LoginCaller } from '../../test/login-caller.ts'
import { serveEmulator } from './serve.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

it('[REL-76] a login outlives the server: its tokens count at once, are renewed, and the user stays signed in', async () => {
  const data = await mkdtemp(join(tmpdir(), 'aiagent-login-'))
  undo.push(() => rm(data, { recursive: true, force: true }))
  const start = async (port = 0) => {
    const server = await serveEmulator({ port, data, reply: () => ({ content: 'Yes.' }) })
    undo.push(() => server.close())
    const openSession = async (token = '') => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(server.url + paths.session('account'), { method: 'POST', headers, body: '{}' })).status
    }
    return { ...server, openSession }
  }
  const first = await start()
  const customers = new LoginCaller(`${first.url}/acme/customer-sign-in`)
  const { access_token, refresh_token = '' } = await customers.signIn('customer')
  await first.close()

  const second = await start(Number(new URL(first.url).port))
  // Node keeps connections to the first server, and notices only now that they are closed.
  await vi.waitFor(() => fetch(second.url))
  expect(await second.openSession(access_token)).toBe(200)
  const renewed = await customers.refresh(refresh_token)
  expect(renewed.status).toBe(200)
  expect(await second.openSession(renewed.body.access_token)).toBe(200)
  const silent = await customers.authorize({ prompt: 'none' })
  expect(new URL(silent.address).searchParams.get('code')).toBeTruthy()
  second.emulator.control.expireTokens()
  expect(await second.openSession(access_token)).toBe(401)
})
