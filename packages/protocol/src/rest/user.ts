import { listOf, optional, type Reader, readRecord, readText } from '../reading.ts'
import { type Id, readId } from './id.ts'

/** The signed-in user: a user of the contact center or a customer. Further fields pass through, see {@link allFields}. */
export interface UserDetails {
  /** Id of the user. */
  id?: Id | null
  /** Name to show. */
  name?: string | null
  /** Email address. */
  email?: string | null
}

/** Answer of `GET …/portals/user`. The first element is the user. */
export interface UserList {
  /** The user, as a list of one. */
  user?: UserDetails[] | null
}

/** Answer of `GET …/internal/customer`. The first element is the customer. */
export interface CustomerList {
  /** The customer, as a list of one. */
  customer?: UserDetails[] | null
}

/** @throws {ProtocolError} when the value is not an answer with users */
export const parseUserList: Reader<UserList> = (value, path, onLeftOut) =>
  readRecord<UserList>(value, path, { user: optional(listOf(readUser)) }, onLeftOut)

/** @throws {ProtocolError} when the value is not an answer with customers */
export const parseCustomerList: Reader<CustomerList> = (value, path, onLeftOut) =>
  readRecord<CustomerList>(value, path, { customer: optional(listOf(readUser)) }, onLeftOut)

const readUser: Reader<UserDetails> = (value, path) =>
  readRecord<UserDetails>(value, path, { id: optional(readId), name: optional(readText), email: optional(readText) })
