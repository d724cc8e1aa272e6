import { assertType, describe, it } from 'vitest'
import type {
  AgentProfileDetails,
  ApiMetadata,
  ApiPermissionPrefixes,
  AuthenticationDetails,
  CustomerList,
  DefaultUserProfile,
  IdpPolicies,
  MaskingConfiguration,
  OAuthEndpoint,
  OpenRecord,
  PaginationInfo,
  Portal,
  PortalDepartment,
  PortalDetailsList,
  PortalReference,
  PortalSettings,
  Reader,
  UserList,
} from '../index.ts'

describe('parts of records', () => {
  it('AgentProfileDetails, PortalReference: parts of an agent', () => {
    assertType<AgentProfileDetails>({ name: 'Help Desk' })
    // @ts-expect-error a name is text
    assertType<AgentProfileDetails>({ name: 7 })
    assertType<PortalReference>({ id: 1001 })
    // @ts-expect-error the id is missing
    assertType<PortalReference>({})
  })

  it('PortalDepartment, PortalSettings, DefaultUserProfile, PortalDetailsList: parts of a portal', () => {
    assertType<PortalDepartment>({ id: 999, name: 'Service' })
    // @ts-expect-error a name is text
    assertType<PortalDepartment>({ name: 7 })
    assertType<PortalSettings>({ defaultUserProfile: { id: 10 } })
    // @ts-expect-error a profile is an object
    assertType<PortalSettings>({ defaultUserProfile: 10 })
    assertType<DefaultUserProfile>({ id: 10, name: 'Member' })
    // @ts-expect-error a typing error in a field's name
    assertType<DefaultUserProfile>({ nmae: 'Member' })
    assertType<PortalDetailsList>({ portal: [{ name: 'Support' }] })
    // @ts-expect-error the portal is in a list
    assertType<PortalDetailsList>({ portal: { name: 'Support' } })
    assertType<PaginationInfo>({ count: 1, pagesize: 75 })
    // @ts-expect-error the size is missing
    assertType<PaginationInfo>({ count: 1 })
  })

  it('UserList, CustomerList: a user as a list of one', () => {
    assertType<UserList>({ user: [{ id: 7 }] })
    // @ts-expect-error the user is in a list
    assertType<UserList>({ user: { id: 7 } })
    assertType<CustomerList>({ customer: [{ id: 7 }] })
    // @ts-expect-error a typing error in a field's name
    assertType<CustomerList>({ costumer: [] })
  })

  it('MaskingConfiguration: settings of all rules', () => {
    assertType<MaskingConfiguration>({ htmlTagMatcherRegEx: '<.*?>' })
    // @ts-expect-error an expression is text
    assertType<MaskingConfiguration>({ htmlTagMatcherRegEx: /<.*?>/ })
  })

  it('AuthenticationDetails, OAuthEndpoint, IdpPolicies, ApiMetadata, ApiPermissionPrefixes: parts of the metadata', () => {
    assertType<AuthenticationDetails>({ oAuthUser: [{ authURL: 'https://login.example.test' }] })
    // @ts-expect-error addresses are in a list
    assertType<AuthenticationDetails>({ oAuthUser: { authURL: 'https://login.example.test' } })
    assertType<OAuthEndpoint>({ accessTokenURL: null })
    // @ts-expect-error a typing error in a field's name
    assertType<OAuthEndpoint>({ accessTokenUrl: 'https://login.example.test' })
    assertType<IdpPolicies>({ userSigninPolicy: 'B2C_1' })
    // @ts-expect-error a policy is text
    assertType<IdpPolicies>({ userSigninPolicy: 1 })
    assertType<ApiMetadata>({ CORE: { apiPermissionPrefix: 'api://any/' } })
    // @ts-expect-error the only known API is CORE
    assertType<ApiMetadata>({ OTHER: {} })
    assertType<ApiPermissionPrefixes>({ iApiPermissionPrefix: 'api://int/' })
    // @ts-expect-error a prefix is text
    assertType<ApiPermissionPrefixes>({ iApiPermissionPrefix: 1 })
  })

  it('OpenRecord, Reader: further fields, and functions that read a value', () => {
    assertType<OpenRecord<Portal>>({ id: 1, openingHours: '9 to 5' })
    // @ts-expect-error the known fields keep their types
    assertType<OpenRecord<Portal>>({ id: 1, name: 7 })
    assertType<Reader<string>>(value => String(value))
    // @ts-expect-error the result has another type
    assertType<Reader<string>>(() => 7)
  })
})
