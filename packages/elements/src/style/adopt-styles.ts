const sheets = new Map<string, CSSStyleSheet>()

/** Adds styles to a shadow tree: one sheet for all elements of the page, and no `<style>`, which a policy might refuse. */
export function adoptStyles(root: ShadowRoot, text: string): void {
  let sheet = sheets.get(text)
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(text)
    sheets.set(text, sheet)
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]
}
