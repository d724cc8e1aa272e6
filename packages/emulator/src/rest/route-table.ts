import type { Context, Handler } from 'hono'
import type { VerifiedToken } from '../oauth/keys.ts'
import type { TokenForm } from './authorization.ts'

export type Method = 'GET' | 'POST' | 'PUT'
export type Routes = Partial<Record<Method, Handler>>

/** Dependencies of a set of routes. */
export interface RouteTable {
  /** All methods of a path. Another method is answered with 405 and a list of the existing ones. */
  at(path: string, routes: Routes): void
  /** The token of a call, checked for the scope. */
  tokenOf(c: Context, scope: string, form?: TokenForm): VerifiedToken
}

/** A parameter that the path itself guarantees. */
export function param(c: Context, name: string): string {
  return c.req.param(name) ?? ''
}

/** Lists the methods of the path, in the response to another method. */
export function refuseMethod(c: Context, allowed: string[]): Response {
  c.header('Allow', allowed.join(', '))
  return c.json({ code: '405-001', message: `${c.req.method} is not offered here. Try ${allowed.join(' or ')}.` }, 405)
}
