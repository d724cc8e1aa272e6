import type { Context, Handler } from 'hono'
import type { VerifiedToken } from '../oauth/keys.ts'
import type { TokenForm } from './authorization.ts'

export type Method = 'GET' | 'POST' | 'PUT'
export type Routes = Partial<Record<Method, Handler>>

/** What a set of routes is put up with. */
export interface RouteTable {
  /** Everything that a path offers. Another method is answered with 405 and what there is instead. */
  at(path: string, routes: Routes): void
  /** The token that a call came with, checked for the scope. */
  tokenOf(c: Context, scope: string, form?: TokenForm): VerifiedToken
}

/** A parameter that the path itself guarantees. */
export function param(c: Context, name: string): string {
  return c.req.param(name) ?? ''
}

/** Says what the path offers instead of the method it was asked with. */
export function refuseMethod(c: Context, allowed: string[]): Response {
  c.header('Allow', allowed.join(', '))
  return c.json({ code: '405-001', message: `${c.req.method} is not offered here. Try ${allowed.join(' or ')}.` }, 405)
}
