import { describe, expect, it } from 'vitest'
import { withPortalAttribute } from './portal-context.ts'

const added = { value: '5', type: 'string', notInLLM: true, description: 'Portal id to use' }

describe('the context of a new session', () => {
  it.each([
    ['is added', {}, added],
    ['takes the place of a plain value', { vendor_portal_id: '4' }, added],
    ['takes the place of a list', { vendor_portal_id: ['4'] }, added],
    [
      'keeps what the host wrote of it',
      { vendor_portal_id: { value: '4', type: 'integer', notInLLM: false, description: 'Ours', more: 1 } },
      { ...added, description: 'Ours', more: 1 },
    ],
    ['has a description in place of a blank one', { vendor_portal_id: { description: ' ' } }, added],
  ])('names the portal: it %s', (_case, context, attribute) => {
    const given = { page: 'cart', ...context }
    const before = structuredClone(given)
    expect(withPortalAttribute(given, 5)).toEqual({ page: 'cart', vendor_portal_id: attribute })
    expect(given).toEqual(before)
  })
})
