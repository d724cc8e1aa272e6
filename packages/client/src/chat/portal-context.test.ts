import { describe, expect, it } from 'vitest'
import { withPortalAttribute } from './context-store.ts'

const added = { value: '5', type: 'string', notInLLM: true, description: 'Portal id to use' }

describe('the context of a new session', () => {
  it.each([
    ['is added', {}, added],
    ['replaces a plain value', { vendor_portal_id: '4' }, added],
    ['replaces a list', { vendor_portal_id: ['4'] }, added],
    [
      'keeps the fields that the host set',
      { vendor_portal_id: { value: '4', type: 'integer', notInLLM: false, description: 'Ours', more: 1 } },
      { ...added, description: 'Ours', more: 1 },
    ],
    ['has a description instead of a blank one', { vendor_portal_id: { description: ' ' } }, added],
  ])('names the portal: it %s', (_case, context, attribute) => {
    const given = { page: 'cart', ...context }
    const before = structuredClone(given)
    expect(withPortalAttribute(given, 5)).toEqual({ page: 'cart', vendor_portal_id: attribute })
    expect(given).toEqual(before)
  })
})
