import { createHash } from 'node:crypto'
import { hasChromium, type LaunchedChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LOGIN_FILE, LOGIN_LOADER, SCRIPT_INTRO } from '../../script-tag.mjs'

/** The parts of the script that find and load the login, as the build puts them into its wrapper. */
const SCRIPT = `(() => { ${SCRIPT_INTRO} ${LOGIN_LOADER} globalThis.loadLogin = loadLogin })()`
const LOGIN = `export const load = () => 'ours'`
const OUTCOME = `loadLogin().then(login => login.load(), error => 'failed: ' + error.message)`

describe.skipIf(!hasChromium())('the script tag', () => {
  let chromium: LaunchedChromium
  beforeAll(async () => {
    chromium = await launchChromium()
  })
  afterAll(() => chromium?.close())

  /** Loads a page with markup before the script tag, and returns what loading the login gives. */
  async function load(markup: string, attributes = '', policy = ''): Promise<{ outcome: string; foreign: string[] }> {
    const foreign: string[] = []
    const evil = await servePages({ [`/${LOGIN_FILE}.js`]: `export const load = () => 'foreign'` })
    const meta = policy && `<meta http-equiv="Content-Security-Policy" content="${policy}">`
    const server = await servePages({
      '/': `<!doctype html>${meta}${markup.replaceAll('EVIL', evil.url)}<script src="/sdk.js" ${attributes}></script>`,
      '/sdk.js': SCRIPT,
      [`/${LOGIN_FILE}.js`]: LOGIN,
    })
    try {
      const page = await chromium.newPage()
      page.on('request', request => {
        if (request.url().includes(LOGIN_FILE) && !request.url().startsWith(server.url)) foreign.push(request.url())
      })
      await page.goto(server.url)
      const outcome = (await page.evaluate(OUTCOME)) as string
      await page.close()
      return { outcome, foreign }
    } finally {
      await Promise.all([server.close(), evil.close()])
    }
  }

  it.each([
    '<img name="currentScript" src="EVIL/x">',
    '<form name="currentScript" src="EVIL/x"><input name="tagName" value="SCRIPT"><input name="src" value="EVIL/x"></form>',
    '<iframe name="currentScript" srcdoc="<a id=tagName href=EVIL></a><a id=src href=EVIL></a>"></iframe>',
    '<embed name="currentScript" src="EVIL/x"><object name="currentScript" data="EVIL/x"></object>',
    '<a id="aiAgentSdkScript" href="EVIL/x"></a><a id="aiAgentSdkAddress" href="EVIL/x"></a>',
  ])('[SEC-07] loads the login from its own address, whatever markup stands before it: %s', async markup => {
    expect(await load(markup)).toEqual({ outcome: 'ours', foreign: [] })
  })

  it('[SEC-07] does so under a policy with strict-dynamic too', async () => {
    const policy = `script-src 'nonce-abc' 'strict-dynamic'`
    const loaded = await load('<img name="currentScript" src="EVIL/x">', 'nonce="abc"', policy)
    expect(loaded).toEqual({ outcome: 'ours', foreign: [] })
  })

  it('[SEC-07] imports the login only if it has the hash that the script tag names', async () => {
    const hash = (text: string) => `sha384-${createHash('sha384').update(text).digest('base64')}`
    const policy = `script-src 'nonce-abc' 'strict-dynamic'`
    expect((await load('', `data-login-integrity="${hash(LOGIN)}"`)).outcome).toBe('ours')
    expect((await load('', `nonce="abc" data-login-integrity="${hash(LOGIN)}"`, policy)).outcome).toBe('ours')
    const { outcome } = await load('', `data-login-integrity="${hash('other')}"`)
    expect(outcome).toMatch(/^failed: The login file .* is not the one of data-login-integrity/)
  })
})
