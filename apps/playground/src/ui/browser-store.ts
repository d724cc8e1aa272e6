/** A store of the browser; undefined where the user or a sandbox refuses it, which reading the property throws. */
export function browserStore(name: 'localStorage' | 'sessionStorage'): Storage | undefined {
  try {
    return globalThis[name]
  } catch {
    return undefined
  }
}
