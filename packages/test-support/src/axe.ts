import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Places of a page that break a rule of axe. */
export async function examineByAxe(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
