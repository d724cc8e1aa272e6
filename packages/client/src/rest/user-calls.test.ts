import { describe, expect, it } from 'vitest'
import { setUpApi, TOKEN } from '../../test/api-set-up.ts'

const USER = '/knowledge/portalmgr/v3/portals/user'
const CUSTOMER = '/core/customermgr/v3/internal/customer'

describe.each([
  ['getUserDetails', USER, 'user'],
  ['getCustomerDetails', CUSTOMER, 'customer'],
] as const)('%s', (name, path, member) => {
  it('[REST-07] returns the first user of the response, requested with the page’s cookies', async () => {
    const { service, api } = setUpApi({ language: 'sv-SE' })
    service.on(`GET ${path}`, { [member]: [{ id: 1, name: 'Customer', email: 'a@example.test', more: 1 }, { id: 2 }] })
    expect(await api[name]()).toEqual({ id: 1, name: 'Customer', email: 'a@example.test', more: 1 })
    const headers = service.seen[0]?.headers
    expect(headers?.get('authorization')).toBe(`Bearer ${TOKEN}`)
    expect(headers?.get('accept-language')).toBe('sv-se')
    expect(headers?.get('accept')).toBe('application/json')
    expect(service.seen[0]?.credentials).toBe('include')
  })

  it.each([
    ['a refusal', () => new Response('{}', { status: 403 })],
    ['nobody reached', () => Promise.reject(new TypeError('fetch failed'))],
    ['no JSON', () => new Response('<p>')],
    ['no person', { [member]: [] }],
    ['no list', {}],
  ])('is null for %s', async (_case, answer) => {
    const { service, api } = setUpApi()
    service.on(`GET ${path}`, answer)
    expect(await api[name]()).toBeNull()
  })

  it('is null after the time limit', async () => {
    const { service, api } = setUpApi()
    service.on(`GET ${path}`, () => new Promise(() => {}))
    const asked = api[name]()
    await service.clock.advance(30_000)
    expect(await asked).toBeNull()
  })
})

it('getCustomerDetails requests every attribute', async () => {
  const { service, api } = setUpApi()
  service.on(`GET ${CUSTOMER}`, {})
  await api.getCustomerDetails()
  expect(service.seen[0]?.url).toMatch(/[?][$]attribute=all$/)
})

it('[INIT-04] getUserDetails sends the short URL template, since the portal manager answers it', async () => {
  const { service, api } = setUpApi({ shortUrlTemplate: 'shop' })
  service.on(`GET ${USER}`, {})
  await api.getUserDetails()
  expect(service.seen[0]?.url).toMatch(/[?]shortUrlTemplate=shop$/)
})
