import { PORTAL_PAGE_SIZE, type PortalList } from '@aiagent/protocol'
import { RestError } from './error.ts'

export interface PageRequest {
  /** As requested by the client. */
  size: string | undefined
  number: string | undefined
  /** Maximum size of a page; 0 returns everything at once, without page information. */
  largest: number
}

/**
 * One page of a list, the first being page 1. A page beyond the end is empty.
 *
 * @throws {RestError} 400 when the size or the number of the page is not a whole number above 0
 */
export function pageOf<T>(
  all: readonly T[],
  { size, number, largest }: PageRequest,
): { entries: readonly T[]; paginationInfo?: NonNullable<PortalList['paginationInfo']> } {
  const wanted = readCount('$pagesize', size) ?? PORTAL_PAGE_SIZE
  const pagenum = readCount('$pagenum', number) ?? 1
  if (largest === 0) return { entries: all }
  const pagesize = Math.min(wanted, largest)
  const entries = all.slice((pagenum - 1) * pagesize, pagenum * pagesize)
  return { entries, paginationInfo: { count: all.length, pagesize, pagenum } }
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new RestError(400, '004', `${name} must be a whole number above 0.`)
  return Number(text)
}
