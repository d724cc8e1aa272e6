import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** A part of a page on the screen, in CSS pixels. */
type Box = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>

/**
 * Fails unless each part of a page can be seen: it is inside the window, nothing covers it, and hiding it changes the pixels of
 * its place.
 */
export async function expectVisible(page: Page, parts: Readonly<Record<string, Locator>>): Promise<void> {
  for (const [name, locator] of Object.entries(parts)) {
    // A locator by role no longer finds what is hidden.
    const part = await locator.elementHandle()
    if (!part) throw new Error(`${name} is not on the page.`)
    const box = await boxOf(part, name)
    const window = page.viewportSize() ?? { width: 0, height: 0 }
    const isInside =
      box.x >= 0 && box.y >= 0 && box.x + box.width <= window.width && box.y + box.height <= window.height
    expect(isInside, `${name} is inside the window`).toBe(true)
    expect(await part.evaluate(isOnTop), `${name} is not covered`).toBe(true)
    const shown = await pixels(page, box)
    await part.evaluate(element => (element as HTMLElement).style.setProperty('visibility', 'hidden', 'important'))
    const hidden = await pixels(page, box)
    await part.evaluate(element => (element as HTMLElement).style.removeProperty('visibility'))
    const changed = shown.filter((value, index) => value !== hidden[index]).length / shown.length
    expect(changed, `${name} is painted`).toBeGreaterThan(0.005)
  }
}

/** Fails where two of the parts overlap. */
export async function expectApart(parts: readonly Locator[]): Promise<void> {
  const boxes = await Promise.all(parts.map((part, index) => boxOf(part, `part ${index}`)))
  for (const [index, a] of boxes.entries()) {
    for (const b of boxes.slice(index + 1)) {
      const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
      const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
      expect(width > 1 && height > 1, `${JSON.stringify(a)} overlaps ${JSON.stringify(b)}`).toBe(false)
    }
  }
}

async function boxOf(part: Pick<Locator, 'boundingBox'>, name: string): Promise<Box> {
  const box = await part.boundingBox()
  if (!box || box.width === 0 || box.height === 0) throw new Error(`${name} has no place on the page.`)
  return box
}

/** Whether the element, or something in it, is what a click on its middle or its start would meet. */
function isOnTop(element: Node): boolean {
  if (!(element instanceof Element)) return false
  const { left, top, width, height } = element.getBoundingClientRect()
  const root = element.getRootNode() as Document | ShadowRoot
  const points = [0.5, 0.1].map(share => root.elementFromPoint(left + width * share, top + height / 2))
  return points.every(found => found !== null && (element.contains(found) || found.contains(element)))
}

/** Colours of a part of the screen, one number for each pixel. */
async function pixels(page: Page, clip: Box): Promise<number[]> {
  const png = await page.screenshot({ clip, animations: 'disabled', caret: 'hide' })
  return page.evaluate(
    async address => {
      const image = await createImageBitmap(await (await fetch(address)).blob())
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
      if (!context) throw new Error('There is no canvas.')
      context.drawImage(image, 0, 0)
      return [...new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)]
    },
    `data:image/png;base64,${png.toString('base64')}`,
  )
}
