import { listOf, optional, type Reader, readNumber, readRecord, readText } from '../reading.ts'
import { type Id, readId } from './id.ts'

/** The department that a portal belongs to. */
export interface PortalDepartment {
  /** Id of the department. */
  id?: Id | null
  /** Name to show. */
  name?: string | null
}

/** A portal of the contact center, from `GET …/portals` and `GET …/myportals`. */
export interface Portal {
  /** Id of the portal. */
  id: Id
  /** Name to show. Missing where only the id is known. */
  name?: string | null
  /** A sentence about the portal. */
  description?: string | null
  /** The department that the portal belongs to. */
  department?: PortalDepartment | null
}

/** How a list is divided into pages. */
export interface PaginationInfo {
  /** Number of elements on all pages. */
  count: number
  /** Number of elements on a full page. */
  pagesize: number
  /** Number of this page, from 1. */
  pagenum?: number | null
}

/** One page of portals. A missing list reads as empty. */
export interface PortalList {
  /** The portals of this page. */
  portal?: Portal[] | null
  /** Where the page stands in the whole list. Missing means that there is one page. */
  paginationInfo?: PaginationInfo | null
}

/** The profile that a portal selects where the user has not chosen one. */
export interface DefaultUserProfile {
  /** Id of the profile. */
  id?: Id | null
  /** Name to show. */
  name?: string | null
}

/** Settings of a portal, as far as a client reads them. */
export interface PortalSettings {
  /** The profile that is selected where the user has not chosen one. */
  defaultUserProfile?: DefaultUserProfile | null
}

/** Details of one portal, from `GET …/internal/portals/{portalId}`. */
export interface PortalDetails {
  /** Name to show. */
  name?: string | null
  /** Id of the portal's department. */
  departmentId?: Id | null
  /** Settings of the portal. */
  portalSettings?: PortalSettings | null
}

/** Answer of the call for a portal's details. The first element is the portal. */
export interface PortalDetailsList {
  /** The portal, as a list of one. */
  portal?: PortalDetails[] | null
}

/** @throws {ProtocolError} when the value is not a page of portals */
export const parsePortalList: Reader<PortalList> = (value, path, onLeftOut) => {
  const paginationInfo = optional<PaginationInfo>((info, at) =>
    readRecord<PaginationInfo>(info, at, { count: readNumber, pagesize: readNumber, pagenum: optional(readNumber) }),
  )
  return readRecord<PortalList>(value, path, { portal: optional(listOf(readPortal)), paginationInfo }, onLeftOut)
}

/** @throws {ProtocolError} when the value is not an answer with portal details */
export const parsePortalDetailsList: Reader<PortalDetailsList> = (value, path, onLeftOut) =>
  readRecord<PortalDetailsList>(value, path, { portal: optional(listOf(readDetails)) }, onLeftOut)

const readIdAndName = <T extends PortalDepartment | DefaultUserProfile>(value: unknown, path?: string) =>
  readRecord<PortalDepartment>(value, path, { id: optional(readId), name: optional(readText) }) as T

const readPortal: Reader<Portal> = (value, path) =>
  readRecord<Portal>(value, path, {
    id: readId,
    name: optional(readText),
    description: optional(readText),
    department: optional(readIdAndName<PortalDepartment>),
  })

const readDetails: Reader<PortalDetails> = (value, path) =>
  readRecord<PortalDetails>(value, path, {
    name: optional(readText),
    departmentId: optional(readId),
    portalSettings: optional((settings, at) =>
      readRecord<PortalSettings>(settings, at, { defaultUserProfile: optional(readIdAndName<DefaultUserProfile>) }),
    ),
  })

/** Number of portals that a client requests for a page. */
export const PORTAL_PAGE_SIZE = 75
