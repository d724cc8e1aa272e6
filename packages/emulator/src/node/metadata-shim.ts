/**
 * What the certificate library's dependency container asks of `Reflect` when it is loaded. The library decorates its
 * classes and looks their metadata up again; nothing else here does, so a plain store is enough.
 */
interface MetadataReflect {
  defineMetadata?: (key: unknown, value: unknown, target: object) => void
  getMetadata?: (key: unknown, target: object) => unknown
  getOwnMetadata?: (key: unknown, target: object) => unknown
}

/** Adds the missing functions to `Reflect`, unless a full implementation is there already. */
export function ensureReflectMetadata(): void {
  const reflect = Reflect as MetadataReflect
  if (reflect.getMetadata) return
  const store = new WeakMap<object, Map<unknown, unknown>>()
  reflect.defineMetadata = (key, value, target) => {
    const metadata = store.get(target) ?? new Map<unknown, unknown>()
    store.set(target, metadata.set(key, value))
  }
  reflect.getOwnMetadata = (key, target) => store.get(target)?.get(key)
  reflect.getMetadata = (key, target) => {
    for (let owner: object | null = target; owner; owner = Object.getPrototypeOf(owner) as object | null)
      if (store.get(owner)?.has(key)) return store.get(owner)?.get(key)
    return undefined
  }
}
