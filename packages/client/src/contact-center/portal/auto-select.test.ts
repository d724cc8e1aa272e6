import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  choosePortal,
  chooseProfile,
  idInContext,
  type ProfileFacts,
  portalProfiles,
  profileAttribute,
} from './auto-select.ts'

const portals = [{ id: 1 }, { id: '2' }, { id: 3 }]
const member = { id: 10, name: 'Member' }
const lastUsed = { id: 11, name: 'Partner', isLastUsedInPortal: true }
const usedToo = { id: 12, name: 'Staff', isLastUsedInPortal: true }
const guest = { id: '13', name: 'Guest', isLastUsedInPortal: false }
const profiles = [member, lastUsed, usedToo, guest]
const unused = [member, guest]
const byDefault = (id: number | string) => ({ portalSettings: { defaultUserProfile: { id } } })

describe('an id in the context', () => {
  it.each([
    ['plain', ' 5 ', '5'],
    ['a number', 5, '5'],
    ['zero', 0, '0'],
    ['an attribute', { value: '5', type: 'string' }, '5'],
    ['an attribute with a number', { value: 5 }, '5'],
    ['blank', '  ', undefined],
    ['a blank attribute', { value: '' }, undefined],
    ['an attribute without value', { type: 'string' }, undefined],
    ['no number', Number.NaN, undefined],
    ['a flag', true, undefined],
    ['null', null, undefined],
    ['a list', ['5'], undefined],
    ['an attribute in an attribute', { value: { value: 5 } }, undefined],
  ])('[FLOW-12] %s', (_case, given, id) => {
    expect(idInContext({ x: given }, 'x')).toBe(id)
  })

  it('ignores inherited properties of the context', () => {
    expect(idInContext(Object.create({ x: '5' }), 'x')).toBeUndefined()
    expect(idInContext({}, 'constructor')).toBeUndefined()
  })
})

describe('the portal to select automatically', () => {
  it.each([
    ['the only one', [{ id: 7 }], {}, 7],
    ['the only one, whatever the context names', [{ id: 7 }], { vendor_portal_id: '8' }, 7],
    ['[FLOW-12] the one that the context names', portals, { vendor_portal_id: '3' }, 3],
    ['[FLOW-12] the one that an attribute names', portals, { vendor_portal_id: { value: 2 } }, '2'],
    ['none that is not in the list', portals, { vendor_portal_id: '4' }, undefined],
    ['none if nothing is named', portals, {}, undefined],
    ['none for an empty list', [], { vendor_portal_id: '4' }, undefined],
  ])('%s', (_case, list, context, id) => {
    expect(choosePortal(list, context)?.id).toBe(id)
  })
})

describe('the profile to select automatically', () => {
  const facts: ProfileFacts = { profiles, context: {}, rememberedId: undefined, details: null }
  const named = (id: string) => ({ vendor_personalization_profile_id: id })

  it.each<[string, Partial<ProfileFacts>, unknown]>([
    ['the only one', { profiles: [member], rememberedId: 11, context: named('12') }, member],
    ['[FLOW-11] the remembered one first', { rememberedId: '13', context: named('10'), details: byDefault(12) }, guest],
    [
      '[FLOW-11] the one of the context next',
      { rememberedId: 99, context: named('10'), details: byDefault(12) },
      member,
    ],
    ['[FLOW-11] the one used last next', { context: named('99'), details: byDefault(10) }, lastUsed],
    ['[FLOW-11] the default of the portal last', { profiles: unused, details: byDefault('13') }, guest],
  ])('%s', (_case, given, profile) => {
    expect(chooseProfile({ ...facts, ...given })).toEqual({ kind: 'take', profile, synthetic: false })
  })

  it.each<[string, Partial<ProfileFacts>]>([
    ['nothing names one', {}],
    ['all named ones are missing from the list', { rememberedId: 99, context: named('98'), details: byDefault(97) }],
    ['the portal has no settings', { details: {} }],
    ['the portal has no default', { details: { portalSettings: {} } }],
    ['the default has no id', { details: { portalSettings: { defaultUserProfile: { name: 'x' } } } }],
  ])('[FLOW-11] is undefined, so the user is asked, where %s', (_case, given) => {
    expect(chooseProfile({ ...facts, profiles: unused, ...given })).toEqual({ kind: 'ask' })
  })

  it('is built from the context if there is no list', () => {
    const choice = { kind: 'take', profile: { id: '77', name: '77' }, synthetic: true }
    expect(chooseProfile({ ...facts, profiles: [], context: named('77') })).toEqual(choice)
    expect(chooseProfile({ ...facts, profiles: [], rememberedId: 10, details: byDefault(10) })).toEqual({
      kind: 'none',
    })
  })

  it('is always in the list if there is a list', () => {
    const id = fc.oneof(fc.nat(4), fc.nat(4).map(String))
    const profile = fc.record({ id, isLastUsedInPortal: fc.boolean() }, { requiredKeys: ['id'] })
    fc.assert(
      fc.property(
        fc.array(profile, { minLength: 1 }),
        fc.option(id, { nil: undefined }),
        fc.option(id),
        fc.option(id),
        (list, rememberedId, inContext, defaultId) => {
          const choice = chooseProfile({
            profiles: list,
            context: inContext === null ? {} : { vendor_personalization_profile_id: inContext },
            rememberedId,
            details: defaultId === null ? null : byDefault(defaultId),
          })
          expect(choice.kind).not.toBe('none')
          if (choice.kind === 'take') expect(list).toContain(choice.profile)
          else expect(list.every(each => each.isLastUsedInPortal !== true)).toBe(true)
        },
      ),
    )
  })
})

describe('the profiles of a customer', () => {
  const details = { portalSettings: { defaultUserProfile: { id: 10, name: 'Member', further: 1 } } }
  it.each([
    ['the default of the portal', details, {}, [{ id: 10, name: 'Member', further: 1 }]],
    [
      'that default where the context names it',
      details,
      { vendor_personalization_profile_id: '10' },
      [{ id: 10, name: 'Member', further: 1 }],
    ],
    [
      'another where the context names it',
      details,
      { vendor_personalization_profile_id: 11 },
      [{ id: '11', name: '11' }],
    ],
    [
      'the one of the context without a default',
      {},
      { vendor_personalization_profile_id: { value: '11' } },
      [{ id: '11', name: '11' }],
    ],
    ['none if nothing names one', {}, {}, []],
    ['none if nothing is known', null, {}, []],
    ['none if the default has no id', { portalSettings: { defaultUserProfile: { name: 'x' } } }, {}, []],
    ['none if the id of the default is blank', { portalSettings: { defaultUserProfile: { id: '' } } }, {}, []],
    ['none if the id of the default is null', { portalSettings: { defaultUserProfile: { id: null } } }, {}, []],
  ])('[INIT-05] are %s', (_case, given, context, expected) => {
    expect(portalProfiles(given, context)).toEqual(expected)
  })
})

describe('the context attribute of another profile', () => {
  it.each([
    ['replaces a plain value', '10', '12'],
    ['replaces a number', 10, '12'],
    ['replaces a list', ['10'], '12'],
    [
      'keeps the fields that the host set',
      { value: '10', type: 'string', more: 1 },
      { value: '12', type: 'string', more: 1 },
    ],
  ])('%s', (_case, stored, expected) => {
    const context = { page: 'cart', vendor_personalization_profile_id: stored }
    const before = structuredClone(context)
    expect(profileAttribute(context, 12)).toEqual({ vendor_personalization_profile_id: expected })
    expect(context).toEqual(before)
  })

  it.each([null, {}, { page: 'cart' }])('is not added to %j', context => {
    expect(profileAttribute(context, 12)).toBeUndefined()
  })
})
