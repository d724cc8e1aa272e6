/** The list of an empty transcript: the same before and after its code is loaded. */
export const NO_ENTRIES: readonly never[] = Object.freeze([])
