/*
 * How the build for script tags finds and loads its second file, which holds the login. Used by tsdown.config.mjs, and by the
 * test that runs it in a browser.
 */

/** Name of the second file, beside the first, without its extension. */
export const LOGIN_FILE = 'ai-agent-sdk-login'

/**
 * Runs first in the wrapper of the script. The address comes from the script element that is running, and from nothing else:
 * markup such as `<img name="currentScript" src="…">` overrides `document.currentScript`, so the getter is taken from its
 * prototype and the element's class is checked.
 */
export const SCRIPT_INTRO = `
const aiAgentSdkScript = (() => {
  try {
    const { get } = Object.getOwnPropertyDescriptor(Document.prototype, 'currentScript')
    const script = get.call(document)
    if (script instanceof HTMLScriptElement && script.tagName === 'SCRIPT')
      return Object.freeze({ src: script.src, nonce: script.nonce, integrity: script.getAttribute('data-login-integrity') })
  } catch {}
  return Object.freeze({ src: '', nonce: '', integrity: null })
})()
`

/**
 * Loads the second file once; a failure is reported to the caller, and the next call tries again. With the attribute
 * `data-login-integrity` on the script tag the file is loaded ahead under that hash, and only then imported: the import takes
 * what was checked.
 */
export const LOGIN_LOADER = `
let aiAgentSdkLogin
const loadChecked = address => new Promise((resolve, reject) => {
  const link = document.createElement('link')
  const { integrity, nonce } = aiAgentSdkScript
  const fail = why => reject(new Error('The login file ' + address + ' ' + why))
  if (!link.relList.supports('modulepreload')) return fail('cannot be checked: the browser does not support modulepreload.')
  link.rel = 'modulepreload'
  link.crossOrigin = 'anonymous'
  link.integrity = integrity
  if (nonce) link.nonce = nonce
  link.onload = () => resolve(link.remove())
  link.onerror = () => fail('could not be loaded, or is not the one of data-login-integrity.', link.remove())
  link.href = address
  document.head.append(link)
})
const importLogin = async () => {
  const { src, integrity } = aiAgentSdkScript
  if (!src) throw new Error('The address of the script is unknown. Load it by a script tag with src, not as a module.')
  const address = new URL('./${LOGIN_FILE}.js', src).href
  if (integrity) await loadChecked(address)
  return import(address)
}
const loadLogin = () => (aiAgentSdkLogin ??= importLogin().catch(error => {
  aiAgentSdkLogin = undefined
  throw error
}))
`

/** The module in the script in place of the login. */
export const LOGIN_MODULE = `${LOGIN_LOADER}
const load = async () => (await loadLogin()).loadLogin()
export { load as loadLogin }
`
