import { parseCustomerList, parseUserList, paths, QUERY, type UserDetails } from '@aiagent/protocol'
import { ApiError } from '../errors.ts'
import type { ApiCaller } from './api-caller.ts'
import type { ApiCallOptions } from './api-options.ts'
import { encodedQuery, plainQuery } from './query.ts'

/** The signed-in user, or null if the lookup fails. */
export async function getUserDetails(caller: ApiCaller, options: ApiCallOptions): Promise<UserDetails | null> {
  const call = {
    name: 'getUserDetails',
    method: 'GET',
    path: paths.userDetails(),
    query: encodedQuery({ [QUERY.SHORT_URL_TEMPLATE]: caller.shortUrlTemplate }),
    headers: caller.languageHeaders,
    credentials: 'include',
    parse: parseUserList,
  } as const
  const authToken = await caller.token(call, options)
  return orNull(caller.send(call, { ...options, authToken }).then(({ user }) => firstWithId(user)))
}

/** The signed-in customer, or null if the lookup fails. */
export async function getCustomerDetails(caller: ApiCaller, options: ApiCallOptions): Promise<UserDetails | null> {
  const call = {
    name: 'getCustomerDetails',
    method: 'GET',
    path: paths.customerDetails(),
    query: plainQuery({ [QUERY.ATTRIBUTE]: 'all' }),
    headers: caller.languageHeaders,
    credentials: 'include',
    parse: parseCustomerList,
  } as const
  const authToken = await caller.token(call, options)
  return orNull(caller.send(call, { ...options, authToken }).then(({ customer }) => firstWithId(customer)))
}

/** The first record with an id, else the first one. */
function firstWithId(users: readonly UserDetails[] | null | undefined): UserDetails | undefined {
  return users?.find(({ id }) => id !== null && id !== undefined) ?? users?.[0]
}

/** Optional lookup: API errors become null; aborts are rethrown. */
async function orNull(details: Promise<UserDetails | undefined>): Promise<UserDetails | null> {
  try {
    return (await details) ?? null
  } catch (error) {
    if (error instanceof ApiError && error.reason !== 'aborted') return null
    throw error
  }
}
