import { parseCustomerList, parseUserList, paths, SCOPE } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { DeskCaller } from '../../test/desk-caller.ts'

const USER = paths.userDetails()
const CUSTOMER = `${paths.customerDetails()}?$attribute=all`

describe('the user of a token', () => {
  it('is returned for an employee', async () => {
    const { status, body } = await new DeskCaller().get(USER)
    expect(status).toBe(200)
    expect(parseUserList(body)).toEqual(body)
    expect(body).toEqual({
      user: [
        {
          id: 'desk-agent',
          name: 'Desk agent',
          email: 'desk-agent@people.example',
          departmentId: 999,
          languageCode: 'en-us',
        },
      ],
    })
  })

  it('is returned for a customer', async () => {
    const { status, body } = await new DeskCaller({}, 'new-customer').get(CUSTOMER)
    expect(status).toBe(200)
    expect(parseCustomerList(body)).toEqual(body)
    expect(body).toEqual({
      customer: [{ id: 'new-customer', name: 'New customer', email: 'new-customer@people.example' }],
    })
  })

  it('is empty for the other kind of user, for unknown users, and for anonymous tokens', async () => {
    const desk = new DeskCaller()
    expect((await desk.get(CUSTOMER)).body).toEqual({ customer: [] })
    expect((await desk.become('customer').get(USER)).body).toEqual({ user: [] })
    expect((await desk.become('stranger').get(USER)).body).toEqual({ user: [] })
    expect((await (await desk.becomeAnybody()).get(CUSTOMER)).body).toEqual({ customer: [] })
  })

  it('needs a token, and for customers a scope if scopes are checked', async () => {
    const desk = new DeskCaller({ settings: { checkScopes: true } })
    expect((await desk.get(USER, {})).status).toBe(401)
    expect((await desk.get(USER)).status).toBe(200)
    const token = desk.emulator.control.issueToken({ subject: 'customer', scopes: [SCOPE.AI_SERVICES] })
    expect((await desk.get(CUSTOMER, { authorization: `Bearer ${token}` })).status).toBe(403)
    expect((await desk.become('customer').get(CUSTOMER)).status).toBe(200)
  })

  it('may be requested with credentials from a page', async () => {
    const desk = new DeskCaller()
    const { headers } = await desk.service.get(USER, { ...desk.authorization, origin: 'https://page.example' })
    expect(headers.get('access-control-allow-origin')).toBe('https://page.example')
    expect(headers.get('access-control-allow-credentials')).toBe('true')
  })
})
