import { describe, expect, it } from 'vitest'

const ENTRIES: readonly Promise<object>[] = [
  import('./index.ts'),
  import('./msal.ts'),
  import('./pkce.ts'),
  import('./react-native.ts'),
  import('./unstorage.ts'),
  import('./otel.ts'),
  import('./recorder.ts'),
  import('./doctor.ts'),
]

type Class = { readonly name: string; readonly prototype: object }

const isClass = (value: unknown): value is Class => typeof value === 'function' && /^class/.test(`${value}`)

/** Whether instances have private members, of the class or of one that it extends. */
function hasPrivateMembers(given: Class): boolean {
  for (let each: unknown = given; isClass(each); each = Object.getPrototypeOf(each))
    if (/#\w/.test(`${each}`)) return true
  return false
}

describe('a public class', () => {
  it('[REL-255] with private members is not a plain object for Vue, in any entry', async () => {
    const classes: Class[] = []
    for (const entry of ENTRIES) classes.push(...Object.values(await entry).filter(isClass))
    const { Delivery } = await import('./log/delivery.ts')
    const kept = [...classes, Delivery].filter(each => hasPrivateMembers(each))
    expect(kept.length).toBeGreaterThan(10)
    const isPlain = ({ prototype }: Class) => Object.prototype.toString.call(prototype) === '[object Object]'
    expect(kept.filter(isPlain).map(({ name }) => name)).toEqual([])
  })
})
