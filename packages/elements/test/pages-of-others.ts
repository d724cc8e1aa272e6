import type { Page } from 'playwright-core'

/** Styles of pages that know nothing of the elements: resets, typography, and rules that name the elements. */
export const OTHERS: Readonly<Record<string, string>> = {
  'a reset of everything': '* { all: unset }',
  'a reset of boxes':
    '* { margin: 0; padding: 0; border: 0; outline: 0; background: none; vertical-align: baseline; max-height: none }',
  'positions for all': '* { position: relative; z-index: 1 }',
  'static positions for all': '* { position: static; float: none; inset: auto; overflow: visible; contain: none }',
  'a small root font': 'html { font-size: 62.5% }',
  'a large root font': 'html { font-size: 32px }',
  'typography for all':
    '* { font: italic 12px/1 serif; color: maroon; text-transform: uppercase; box-sizing: content-box; text-align: right }',
  'inherited typography': `body { font: italic bold 30px/3 fantasy; color: red; text-transform: uppercase; letter-spacing: 3px; word-spacing: 1em;
    text-indent: 3em; text-align: justify; text-shadow: 2px 2px red; word-break: break-all; font-variant: small-caps; list-style: square inside }`,
  'a navigation bar': 'body { white-space: nowrap; hyphens: auto; line-break: anywhere; text-wrap: nowrap }',
  'an app shell':
    'body { user-select: none; -webkit-user-select: none; cursor: wait; caret-color: transparent; tab-size: 1 }',
  blocks: 'ai-agent-chat, ai-agent-launcher { display: block }',
  'inline blocks': 'ai-agent-chat, ai-agent-launcher { display: inline-block; vertical-align: middle }',
  'flow roots': 'ai-agent-chat, ai-agent-launcher { display: flow-root }',
  grids: 'body * { display: grid }',
  rows: 'body * { display: flex; flex-direction: row; align-items: center }',
  'no boxes': 'ai-agent-chat, ai-agent-launcher { display: contents }',
}

/** What hides an element of the page, as rules for it or for what is around it. */
export const HIDING: Readonly<Record<string, string>> = {
  'display: none': 'ai-agent-chat, ai-agent-launcher { display: none }',
  'display: none of an ancestor': 'body { display: none }',
  'visibility: hidden': 'ai-agent-chat, ai-agent-launcher { visibility: hidden }',
  'visibility: hidden of an ancestor': 'body { visibility: hidden }',
  'pointer-events: none': 'ai-agent-chat, ai-agent-launcher { pointer-events: none }',
  'pointer-events: none of an ancestor': 'body { pointer-events: none }',
}

/** Runs in a page before its scripts: keeps the texts of style sheets as they were written, since each engine reads its own properties. */
export function keepSheets(): void {
  const texts = new WeakMap<CSSStyleSheet, string>()
  const { replaceSync } = CSSStyleSheet.prototype
  CSSStyleSheet.prototype.replaceSync = function (text) {
    texts.set(this, text)
    replaceSync.call(this, text)
  }
  Object.assign(globalThis, { sheetTexts: texts })
}

/** A page with its shadow trees and their styles as HTML, which needs no script to be drawn again, also in another engine. */
export function drawingOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    for (const script of document.querySelectorAll('script, link')) script.remove()
    const shadowRoots: ShadowRoot[] = []
    const visit = (root: ParentNode) => {
      for (const { shadowRoot } of root.querySelectorAll('*')) {
        if (!shadowRoot) continue
        shadowRoots.push(shadowRoot)
        const style = document.createElement('style')
        style.textContent = shadowRoot.adoptedStyleSheets
          .map(sheet => Object(globalThis).sheetTexts.get(sheet))
          .join('\n')
        visit(shadowRoot)
        shadowRoot.append(style)
      }
    }
    visit(document)
    return `<!doctype html><html lang="en">${document.documentElement.getHTML({ shadowRoots })}</html>`
  })
}

/** What is asked of a drawing. */
export interface Drawn {
  readonly html: string
  readonly width: number
  readonly height: number
}

/**
 * Runs in a page: draws a scene, and compares its looks in pages of others with those in a page without styles: place and size of
 * everything that a user sees, and all that text inherits.
 *
 * @returns what differs, and what is not hidden where it should be
 */
export async function compareLooks(
  { html, width, height }: Drawn,
  others: Readonly<Record<string, string>>,
  hiding: Readonly<Record<string, string>>,
): Promise<string[]> {
  const box = document.createElement('iframe')
  box.style.cssText = `position: absolute; inset: 0; border: 0; inline-size: ${width}px; block-size: ${height}px`
  box.srcdoc = html
  const loaded = new Promise(resolve => box.addEventListener('load', resolve))
  document.body.replaceChildren(box)
  await loaded
  const page = box.contentDocument as Document
  const view = box.contentWindow as Window
  const style = page.createElement('style')
  page.head.append(style)
  const hosts = [...page.querySelectorAll('ai-agent-chat, ai-agent-launcher')] as HTMLElement[]
  const inherited = [
    ...[
      'fontSize',
      'fontFamily',
      'fontStyle',
      'fontWeight',
      'fontVariantCaps',
      'lineHeight',
      'color',
      'cursor',
      'caretColor',
    ],
    ...[
      'textTransform',
      'letterSpacing',
      'wordSpacing',
      'textIndent',
      'textAlign',
      'textShadow',
      'whiteSpace',
      'wordBreak',
    ],
    ...['userSelect', 'webkitUserSelect', 'hyphens', 'lineBreak', 'listStyleType', 'tabSize', 'visibility'],
  ]
  const seen = (root: ParentNode): Element[] =>
    [...root.querySelectorAll('*')].flatMap(each => [
      ...(each.matches('.frame, .log, .text, p, textarea, button, a, h2, h3, td, [part]') ? [each] : []),
      ...(each.shadowRoot ? seen(each.shadowRoot) : []),
    ])
  const looks = () => {
    const found = new Map<string, string>()
    for (const host of hosts) {
      const all = seen(host.shadowRoot as ShadowRoot)
      // The launcher has its place in the window, the chat where the page puts it.
      const { x, y } = host.localName.endsWith('chat') ? (all[0] as Element).getBoundingClientRect() : { x: 0, y: 0 }
      for (const [index, each] of all.entries()) {
        const { left, top, width, height } = each.getBoundingClientRect()
        const name = `${index} ${each.localName}.${each.className}`
        const place = [left - x, top - y, width, height].map(value => Math.round(value)).join()
        found.set(`${name} box`, width || height ? place : '')
        if (!each.matches('.frame, .text, .launch, .button, textarea, h2, td')) continue
        const computed = view.getComputedStyle(each)
        for (const property of inherited) found.set(`${name} ${property}`, String(Reflect.get(computed, property)))
      }
    }
    return found
  }
  const base = 'html { overflow: hidden } body { margin: 0 } '
  style.textContent = base
  const clean = looks()
  const wrong: string[] = []
  for (const [name, css] of Object.entries(others)) {
    style.textContent = css + base
    for (const [key, value] of looks())
      if (value !== clean.get(key)) wrong.push(`${name}: ${key}: ${value} instead of ${clean.get(key)}`)
  }
  // Whatever is shown within an element is found at its middle, unless the element is hidden or lets pointers through.
  const reached = () =>
    hosts.flatMap(host =>
      seen(host.shadowRoot as ShadowRoot).filter(each => {
        const { left, top, width, height } = each.getBoundingClientRect()
        return (
          width > 0 &&
          page.elementsFromPoint(left + width / 2, top + height / 2).some(hit => hosts.includes(hit as HTMLElement))
        )
      }),
    ).length
  style.textContent = base
  if (reached() === 0) wrong.push('nothing is shown')
  for (const [name, css] of Object.entries({ ...hiding, 'a reset': '* { all: unset }' })) {
    style.textContent = css + base
    for (const host of hosts) host.hidden = name === 'a reset'
    if (reached() > 0) wrong.push(`${name}: not hidden`)
  }
  return wrong
}
