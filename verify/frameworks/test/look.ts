import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Pictures of the last run, to look at. */
const FOLDER = fileURLToPath(new URL('../.cache/screens/', import.meta.url))

/** Takes a picture of the visible page, and keeps it for a reader where it has a name. */
export async function takePicture(page: Page, name?: string): Promise<Buffer> {
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' })
  if (!name) return picture
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(`${FOLDER}${name}.png`, picture)
  return picture
}

/** A part of a picture, in CSS pixels. */
export interface Region {
  x: number
  y: number
  width: number
  height: number
}

/** Where an element is in the viewport. */
export async function regionOf(locator: Locator): Promise<Region> {
  const region = await locator.boundingBox()
  if (!region) throw new Error('The element is not shown.')
  return region
}

/** Facts about the pixels of a region of a picture, and of the same region of another one. */
export interface Pixels {
  /** Share of its pixels that differ from the other picture, from 0 to 1. */
  difference: number
  /** Greatest contrast of one of its pixels to the same one of the other picture, as WCAG counts it: 1 for equal ones. */
  change: number
}

/** Compares the pixels of a region in two pictures. The page decodes them. */
export function pixelsOf(page: Page, picture: Buffer, region: Region, other = picture): Promise<Pixels> {
  const given = { pictures: [picture, other].map(png => png.toString('base64')), region }
  return page.evaluate(async ({ pictures, region: { x, y, width, height } }) => {
    const read = async (png: string) => {
      const bytes = Uint8Array.from(atob(png), character => character.charCodeAt(0))
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
      if (!context) throw new Error('The page cannot decode a picture.')
      context.drawImage(bitmap, 0, 0)
      return context.getImageData(Math.round(x), Math.round(y), Math.round(width), Math.round(height)).data
    }
    const [data, before] = await Promise.all([read(pictures[0] ?? ''), read(pictures[1] ?? '')])
    const channel = (value = 0) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    }
    const luminanceOf = (pixels: typeof data, at: number) =>
      0.2126 * channel(pixels[at]) + 0.7152 * channel(pixels[at + 1]) + 0.0722 * channel(pixels[at + 2])
    const contrastOf = (one: number, other: number) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
    let [differing, change] = [0, 1]
    for (let at = 0; at < data.length; at += 4) {
      change = Math.max(change, contrastOf(luminanceOf(data, at), luminanceOf(before, at)))
      if ([0, 1, 2].some(offset => data[at + offset] !== before[at + offset])) differing++
    }
    return { difference: differing / (data.length / 4), change }
  }, given)
}

/**
 * Fails unless the text of each element can be read: its pixels have a contrast of at least 4.5 to what is behind them. What
 * disappears when the text is made transparent is the text.
 */
export async function expectReadable(page: Page, elements: Readonly<Record<string, Locator>>): Promise<void> {
  for (const [name, locator] of Object.entries(elements)) {
    const region = await regionOf(locator)
    const shown = await takePicture(page)
    const undo = await locator.evaluateHandle(element => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('[data-hidden-text], [data-hidden-text] * { -webkit-text-fill-color: transparent !important }')
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
      element.setAttribute('data-hidden-text', '')
      return () => {
        element.removeAttribute('data-hidden-text')
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter(other => other !== sheet)
      }
    })
    const hidden = await takePicture(page)
    await undo.evaluate(restore => restore())
    const { change } = await pixelsOf(page, shown, region, hidden)
    expect(change, `contrast of the text of ${name}`).toBeGreaterThan(4.5)
  }
}

/** Whether each of the elements is inside the viewport, with nothing above its middle. */
export function areReachable(elements: Locator): Promise<boolean[]> {
  return elements.evaluateAll(found =>
    found.map(element => {
      const { left, top, right, bottom } = element.getBoundingClientRect()
      const isInside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
      return isInside && element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2))
    }),
  )
}
