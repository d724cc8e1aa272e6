/** How long a popup of `@azure/msal-browser` may take, in milliseconds: a closed one is noticed only then. */
export const POPUP_TIMEOUT_MS = 5_000
