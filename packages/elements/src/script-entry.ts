/**
 * Reports a failure to load the code of an element: the elements of that name say so in one line and dispatch `aiagent-error`. The
 * build copies this file into each script that a page names, since in a file of its own it could be missing, too.
 *
 * @returns the code; undefined where it could not be loaded
 */
export async function loadElement<Code>(name: string, code: Promise<Code>): Promise<Code | undefined> {
  try {
    return await code
  } catch (error) {
    const MissingElement = class extends HTMLElement {
      connectedCallback(): void {
        // It was moved.
        if (this.shadowRoot) return
        const line = document.createElement('p')
        line.setAttribute('role', 'alert')
        // The texts of the other languages are in the code that is missing.
        line.lang = 'en'
        line.textContent = 'The chat could not be loaded.'
        this.attachShadow({ mode: 'open' }).append(line)
        this.dispatchEvent(new CustomEvent('aiagent-error', { detail: { error }, bubbles: true, composed: true }))
      }
    }
    if (!customElements.get(name)) customElements.define(name, MissingElement)
    reportError(error)
    return undefined
  }
}
