// Opens the built site in a browser: what the theme makes of the style and of the search options shows only there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasChromium, type LaunchedChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { DIST } from './paths.ts'

/** Usual words, and the page that must be among the first two results. */
const WORDS: Readonly<Record<string, string>> = {
  csp: 'content-security-policy',
  theme: 'put-it-on-your-site',
  'script tag': 'put-it-on-your-site',
  'dark mode': 'put-it-on-your-site',
  accessibility: 'put-it-on-your-site',
  offline: 'connection-and-queue',
  reload: 'resume',
  login: 'authentication',
  cors: 'doctor',
  i18n: 'add-a-language',
  upload: 'limits-of-the-wire',
  human: 'messages',
  cookie: 'stores',
  jest: 'testing',
  typescript: 'versions',
  error: 'errors',
}

const WIDE = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

/** Problems of the home page and of the search, each as a sentence. Without a Chromium nothing is checked, which is said. */
export async function checkSite(base: string): Promise<string[]> {
  if (!hasChromium()) {
    console.log('Without a Chromium, the home page and the search of the site are not checked.')
    return []
  }
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.(?:html|js|css|svg)$/.test(name),
  )
  const pages = files.flatMap(name => {
    const text = readFileSync(join(DIST, name), 'utf8')
    // A static host answers with and without the ending.
    return [name, name.replace(/(?:^|(?<=\/))index\.html$|\.html$/, '')].map(path => [base + path, text] as const)
  })
  const server = await servePages(Object.fromEntries(pages))
  const chromium = await launchChromium({ context: { reducedMotion: 'reduce' } })
  try {
    const home = server.url + base
    return [
      ...(await problemsOfHome(chromium, home, WIDE)),
      ...(await problemsOfHome(chromium, home, PHONE)),
      ...(await problemsOfSearch(chromium, home)),
    ]
  } finally {
    await Promise.all([chromium.close(), server.close()])
  }
}

async function problemsOfHome(chromium: LaunchedChromium, home: string, size: typeof WIDE): Promise<string[]> {
  const page = await chromium.newPage()
  await page.setViewportSize(size)
  await page.goto(`${home}guide`)
  const expected = JSON.stringify(await page.locator('.VPNavBar').boundingBox())
  await page.goto(home)
  const header = JSON.stringify(await page.locator('.VPNavBar').boundingBox())
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  const frame = page.locator('iframe.element')
  const chat = await frame.boundingBox()
  await frame.scrollIntoViewIfNeeded()
  const view = page.frameLocator('iframe.element').locator('ai-agent-chat')
  const start = view.getByRole('button', { name: 'How do I reset my router?' })
  const answer = view.getByText('press the hidden reset button').first()
  const failure = await start
    .click()
    .then(() => answer.waitFor())
    .then(() => '', String)
  await page.close()
  const isInSight = chat !== null && chat.y + (size === WIDE ? chat.height : 0) <= size.height
  const problems = [
    header === expected ? '' : `the header is at ${header}, and on other pages at ${expected}`,
    overflow <= 0 ? '' : `the page is ${overflow} px wider than the window`,
    isInSight ? '' : `the chat is at ${JSON.stringify(chat)}, outside the first screen`,
    failure && `the chat does not answer a question to start with: ${failure}`,
  ]
  return problems.filter(Boolean).map(problem => `Home page, ${size.width} px: ${problem}.`)
}

async function problemsOfSearch(chromium: LaunchedChromium, home: string): Promise<string[]> {
  const page = await chromium.newPage()
  await page.goto(home)
  await page.getByRole('button', { name: 'Search' }).click()
  const problems: string[] = []
  for (const [word, route] of Object.entries(WORDS)) {
    const found = await search(page, word)
    if (!found.some(path => path === new URL(route, home).pathname))
      problems.push(
        `Search for "${word}": ${route} is not among the first two results, ${found.join(' and ') || 'none'}.`,
      )
  }
  await page.close()
  return problems
}

/** Paths of the first two results. */
async function search(page: Page, word: string): Promise<string[]> {
  const field = page.locator('#localsearch-input')
  const results = page.locator('.VPLocalSearchBox a.result')
  await field.fill('')
  await results.first().waitFor({ state: 'detached' })
  await field.fill(word)
  await page.locator('.VPLocalSearchBox').locator('a.result, .no-results').first().waitFor()
  const links = await results.evaluateAll(found => found.slice(0, 2).map(link => (link as HTMLAnchorElement).pathname))
  return links
}
