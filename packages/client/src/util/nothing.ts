/** An empty object that cannot be changed, for options that a host leaves out. One for all agents. */
export const NOTHING: Readonly<Record<string, never>> = /* @__PURE__ */ Object.freeze({})
