// Packs what would be published and tries it as a host would: publint, are-the-types-wrong, then an installation of the
// tarballs that talks to the emulator from ES modules, CommonJS, four bundlers, a script tag and other runtimes, and compiles with TypeScript.

import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { serveEmulator } from '@aiagent/emulator/node'
import {
  HOW_TO_GET_CHROMIUM,
  type LaunchedChromium,
  launchChromium,
  prepareChromium,
  servePages,
} from '@aiagent/test-support/chromium'
import type { Response } from 'playwright-core'
import ceilings from './ceilings.json' with { type: 'json' }
import { readCommandLine } from './command-line.ts'
import { findTooNew } from './engine-floor.ts'
import { emulate, followTheGuide } from './new-user.ts'
import { audit, checkTarballs, type PackedPackage } from './package-checks.ts'
import { serverEntries, tryRuntimes } from './package-runtimes.ts'
import { BUNDLERS, effectsOf } from './page-bundles.ts'
import { packStaged, publishedPackages, readManifest, stagePackage } from './stage.ts'
import { npmInstall, ownTool, ROOT, run, runOrThrow } from './tools.ts'

/** A host without the DOM library and without the types of Node. The emulator and the MSAL entry need one of them. */
const BARE_PROJECT = {
  compilerOptions: {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2022',
    lib: ['es2022'],
    types: [],
    module: 'nodenext',
    moduleResolution: 'nodenext',
  },
  files: ['bare.ts'],
}

/** Words in the code of a login, and in that of the strategies for tokens of the host. */
const LOGIN_CODE = 'Another sign-in replaced this one.'
const STRATEGY_CODE = 'The token of refreshTokenFn '

readCommandLine({
  name: 'packages',
  about: 'Packs what would be published, then installs and uses it as a host would.',
  options: {},
})

const folder = mkdtempSync(join(tmpdir(), 'aiagent-packages-'))
try {
  const packages = pack()
  refuseTooNew()
  await checkTarballs(packages)
  await followTheGuide(packages, join(folder, 'new-user'))
  const project = await install(packages)
  await audit(project)
  await checkTypes(project)
  const entries = serverEntries(packages).filter(entry => /^@aiagent\/(?:client|view)(?:\/|$)/.test(entry))
  await refuseEffects(project, entries)
  await loadAlone(project, entries)
  const bundles = await bundleForBrowsers(project, entries)
  await loadLoginOnDemand(project)
  await talk(packages, project, entries, bundles)
  await tryJest(project)
  await tryBindings(project)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function pack(): PackedPackage[] {
  return publishedPackages().map(name => {
    if (!existsSync(join(ROOT, 'packages', name, 'dist')))
      throw new Error('The packages are not built. Run `npm run build`.')
    const staged = stagePackage(name, join(folder, 'packages'))
    return { name, staged, tarball: packStaged(staged, folder) }
  })
}

/** Looks for what the oldest engines lack. */
function refuseTooNew(): void {
  const found = findTooNew()
  if (found.length > 0) throw new Error(`The oldest engines lack:\n${found.join('\n')}`)
  console.log('Code and style sheets of pages use only what Chrome 120, Firefox 115 and Safari 17 have.')
}

/** A host's project with the tarballs in it; their own dependencies come from the registry. */
async function install(packages: readonly PackedPackage[]): Promise<string> {
  const project = join(folder, 'host')
  mkdirSync(project)
  const dependencies = Object.fromEntries(packages.map(({ name, tarball }) => [`@aiagent/${name}`, `file:${tarball}`]))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  await npmInstall(project)
  cpSync(join(ROOT, 'scripts', 'smoke'), project, { recursive: true })
  return project
}

/** Adds React, which the packages do not install by themselves, and uses the bindings in a host's program. */
async function tryBindings(project: string): Promise<void> {
  if (existsSync(join(project, 'node_modules', 'react'))) throw new Error('A package installs React unasked.')
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'verify', 'frameworks', 'package.json'), 'utf8')) as {
    devDependencies: Readonly<Record<string, string>>
  }
  const libraries = ['react', 'react-dom', '@types/react', '@types/react-dom']
  await npmInstall(
    project,
    libraries.map(name => `${name}@${devDependencies[name]}`),
  )
  for (const kind of [
    ['--module', 'node16'],
    ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ]) {
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022']
    const page = [...kind, '--lib', 'es2023,dom,dom.iterable', '--jsx', 'react-jsx']
    await runOrThrow(ownTool('tsc'), [...options, ...page, 'bindings.tsx'], { cwd: project })
  }
  const service = await serveEmulator()
  try {
    await runOrThrow(process.execPath, ['bindings.mjs', service.url], { cwd: project, timeoutMs: 30_000 })
  } finally {
    await service.close()
  }
  console.log('The packed bindings compile with React, render on a server, and hold a conversation.')
}

/** Tests of a host in Jest, with the lines of the guide, and as modules with the test service. */
async function tryJest(project: string): Promise<void> {
  const guide = readFileSync(join(ROOT, 'docs/guide/testing.md'), 'utf8')
  const [, plugin = ''] = /^npm install --save-dev (@babel\/\S+)$/m.exec(guide) ?? []
  await npmInstall(project, ['jest@30.5.2', `${plugin}@7.29.14`])
  const [, lines = ''] = /```js\n(module\.exports[\s\S]*?)```/.exec(guide) ?? []
  writeFileSync(join(project, 'jest.config.cjs'), lines)
  writeFileSync(join(project, 'jest.modules.cjs'), 'module.exports = { transform: {} }')
  const jest = (config: string, file: string, env = {}) =>
    runOrThrow(join(project, 'node_modules', '.bin', 'jest'), ['--config', config, '--runTestsByPath', file], {
      cwd: project,
      timeoutMs: 120_000,
      env,
    })
  await jest('jest.config.cjs', 'agent.test.cjs')
  await jest('jest.modules.cjs', 'talk.test.mjs', { NODE_OPTIONS: '--experimental-vm-modules' })
  console.log('Jest loads the client with the lines of the guide, and talks to the test service in modules.')
}

async function checkTypes(project: string): Promise<void> {
  // The same source as a module and as CommonJS.
  copyFileSync(join(project, 'host.ts'), join(project, 'host.cts'))
  const compile = async (module: string, moduleResolution: string, ...files: string[]) => {
    const kind = ['--module', module, '--moduleResolution', moduleResolution, '--lib', 'es2023,dom']
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'es2022', ...kind]
    return run(ownTool('tsc'), [...options, ...files], { cwd: project, capture: true })
  }
  for (const [module, resolution, ...files] of [
    ['nodenext', 'nodenext', 'host.ts', 'host.cts'],
    ['node16', 'node16', 'host.ts'],
    ['esnext', 'bundler', 'host.ts', 'host.cts'],
  ] as const) {
    const { code, output } = await compile(module, resolution, ...files)
    if (code !== 0) throw new Error(`TypeScript refuses it with ${resolution}:\n${output}`)
  }
  // docs/guide/getting-started.md says so.
  const { output } = await compile('node16', 'node16', 'host.cts')
  if (!output.includes('TS1479')) throw new Error(`With node16 TypeScript says of CommonJS:\n${output}`)
  console.log(
    'TypeScript takes it with moduleResolution nodenext, node16 and bundler, and from CommonJS without node16.',
  )
  // Neither the DOM nor the types of Node, and every declaration is checked.
  writeFileSync(join(project, 'bare.json'), JSON.stringify(BARE_PROJECT))
  await runOrThrow(ownTool('tsc'), ['-p', 'bare.json'], { cwd: project })
  console.log('TypeScript takes it without the DOM library, without types of Node and without skipLibCheck.')
  const [, lowest = ''] =
    /^\| TypeScript \| (\d+\.\d+) or later/m.exec(readFileSync(join(ROOT, 'docs/guide/versions.md'), 'utf8')) ?? []
  await npmInstall(project, [`typescript-lowest@npm:typescript@~${lowest}.0`])
  const tsc = join(project, 'node_modules/typescript-lowest/bin/tsc')
  await runOrThrow(process.execPath, [tsc, '-p', 'bare.json'], { cwd: project })
  console.log(`TypeScript ${lowest}, the lowest version of the guide, takes it too.`)
}

/** Looks for code that runs when a module is loaded: `sideEffects: false` promises that there is none. */
async function refuseEffects(project: string, entries: readonly string[]): Promise<void> {
  for (const entry of entries) {
    const [, name = '', path = ''] = /^(@aiagent\/[^/]+)(.*)$/.exec(entry) ?? []
    const folder = join(project, 'node_modules', name)
    const { exports = {} } = readManifest(join(folder, 'package.json')) as {
      exports?: Readonly<Record<string, { default: string }>>
    }
    const file = exports[`.${path}`]?.default ?? ''
    const effects = await effectsOf(join(folder, file))
    if (effects !== '') throw new Error(`${entry} runs this when it is loaded:\n${effects}`)
  }
  console.log(`Loading a module of the client or the view runs nothing, in ${entries.length} entries.`)
}

/** Loads each entry as the first one of a process, since files that import each other work in one order only. */
async function loadAlone(project: string, entries: readonly string[]): Promise<void> {
  for (const entry of entries)
    for (const load of [`require('${entry}')`, `import('${entry}')`]) {
      const output = await runOrThrow(process.execPath, ['-e', load], { cwd: project, timeoutMs: 30_000 })
      if (output !== '') throw new Error(`${load} writes:\n${output}`)
    }
  console.log(
    `Each of ${entries.length} entries of the client and the view can be the first that a process loads, by require() and by import(), which write nothing.`,
  )
}

/** Scripts by the path a page loads them from, and which of them it starts with. */
interface Bundles {
  files: Readonly<Record<string, string>>
  pages: readonly string[]
}

/** Bundles a page with vite, esbuild, webpack and Rollup, and looks for what must not reach a page. */
async function bundleForBrowsers(project: string, entries: readonly string[]): Promise<Bundles> {
  const files: Record<string, string> = {}
  const pages: string[] = []
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}'\n`)
  const names = entries.map((entry, index) => `'${entry}': entry${index}`)
  writeFileSync(join(project, 'page.mjs'), `${imports.join('')}globalThis.entries = { ${names.join(', ')} }`)
  for (const [bundler, bundle] of Object.entries(BUNDLERS)) {
    const base = `/${bundler}/`
    const bundled = await bundle({ folder: project, base, minify: false })
    refuseNode(bundler, bundled.modules)
    for (const [name, code] of Object.entries(bundled.files)) files[base + name] = code
    pages.push(base + bundled.atOnce[0])
  }

  for (const [path, code] of Object.entries(files)) {
    const found = /(?:from|import|require)\s*\(?\s*["'](?:node:[^"']+|ws|fs|net|tls|http|https|crypto)["']/.exec(code)
    if (found) throw new Error(`The bundle ${path} says ${found[0]}.`)
  }
  console.log('The bundles of vite, esbuild, webpack and Rollup for a page hold no ws and no module of Node.')
  return { files, pages }
}

/** A page loads the code of a login only with an agent that needs one, and that of the other strategies also where it names one. */
async function loadLoginOnDemand(project: string): Promise<void> {
  const page = join(project, 'login')
  mkdirSync(page)
  for (const named of ['AiAgent', 'PreAuthStrategy']) {
    const source = `import { AiAgent, ${named} as named } from '@aiagent/client'\nglobalThis.kept = { AiAgent, named }`
    writeFileSync(join(page, 'page.mjs'), source)
    for (const [bundler, bundle] of Object.entries(BUNDLERS)) {
      const { files, atOnce } = await bundle({ folder: page, base: '/', minify: false })
      for (const code of [LOGIN_CODE, STRATEGY_CODE]) {
        const having = Object.keys(files).filter(name => files[name]?.includes(code))
        const isAtOnce = having.some(name => atOnce.includes(name))
        if (having.length !== 1 || isAtOnce !== (code === STRATEGY_CODE && named === 'PreAuthStrategy'))
          throw new Error(`${bundler} puts "${code}" into ${having.join(', ')} where a page names ${named}.`)
      }
    }
  }
  console.log('The bundles of vite, esbuild, webpack and Rollup load the code of a login and of strategies on demand.')
}

function refuseNode(bundler: string, modules: readonly string[]): void {
  const wrong = modules.find(id => /node_modules[\\/]ws[\\/]|websocket[.]node|__vite-browser-external/.test(id))
  if (wrong !== undefined) throw new Error(`The bundle of ${bundler} holds ${wrong}.`)
}

/** Holds the same conversation from every kind of host. */
async function talk(
  packages: readonly PackedPackage[],
  project: string,
  entries: readonly string[],
  bundles: Bundles,
): Promise<void> {
  const service = await serveEmulator()
  try {
    for (const program of ['esm.mjs', 'common.cjs'])
      await runOrThrow(process.execPath, [program, service.url, entries.join(',')], { cwd: project, timeoutMs: 30_000 })
    console.log(
      'From ES modules and from CommonJS every class is constructed, a conversation runs, and the process ends by itself.',
    )
    await tryRuntimes(packages, project, service.url)
    await showPlayground(project)
    if ((await prepareChromium()) === undefined) {
      console.warn(`The script tag and the bundles were not tried in a browser. ${HOW_TO_GET_CHROMIUM}`)
      return
    }
    await talkInBrowser(project, bundles, service.url)
  } finally {
    await service.close()
  }
}

/** Serves the packed playground, which must be built already. */
async function showPlayground(project: string): Promise<void> {
  await emulate(project, ['--playground'], async output => {
    const [, url = ''] = /^Playground: (\S+)/m.exec(output) ?? []
    const page = await (await fetch(url)).text()
    const [, script = ''] = /src="(\.\/assets\/[^"]+\.js)"/.exec(page) ?? []
    const { status } = await fetch(new URL(script, url))
    if (script === '' || status !== 200) throw new Error(`The packed playground is not complete:\n${page}`)
  })
  console.log('The packed command serves the playground.')
}

async function talkInBrowser(project: string, bundles: Bundles, endpoint: string): Promise<void> {
  const ofScriptTag = (name: string) =>
    readFileSync(join(project, 'node_modules', '@aiagent', 'client', 'dist', name), 'utf8')
  const elements = scriptOfElements(project)
  const chromium = await launchChromium()
  const pages = Object.fromEntries(
    bundles.pages.map(path => [`${path}.html`, `<!doctype html><script type="module" src="${path}"></script>`]),
  )
  const server = await servePages({
    ...bundles.files,
    ...pages,
    '/script-tag':
      '<!doctype html><script src="/sdk.js"></script><script>globalThis.entries = { "@aiagent/client": AiAgentSdk }</script>',
    '/sdk.js': ofScriptTag('ai-agent-sdk.iife.js'),
    ...elements,
    '/conversation.js': readFileSync(join(project, 'conversation.mjs'), 'utf8'),
    '/whole-build.js': readFileSync(join(project, 'whole-build.mjs'), 'utf8'),
  })
  try {
    const exported = readFileSync(join(project, 'exports.json'), 'utf8')
    for (const path of ['/script-tag', ...Object.keys(pages)])
      await talkInPage(chromium, server.url + path, endpoint, exported)
    await importLogin(chromium, `${server.url}/script-tag`, ofScriptTag('ai-agent-sdk-login.js'))
    await openElement(chromium, `${server.url}/elements/#${endpoint}`)
    console.log('In Chromium the launcher opens a chat with the few files of its script build.')
    console.log(
      'In Chromium every class is constructed, and a conversation runs, from a script tag and from all bundles.',
    )
  } finally {
    await Promise.all([chromium.close(), server.close()])
  }
}

/** Imports the login file as the script does where the page names its hash: from a blob, beside which there is no other file. */
async function importLogin(chromium: LaunchedChromium, address: string, login: string): Promise<void> {
  const page = await chromium.newPage()
  await page.goto(address)
  const exported = await page.evaluate(async text => {
    const { loadLogin } = await import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })))
    return typeof loadLogin
  }, login)
  await page.close()
  if (exported !== 'function') throw new Error('The login file of the script tag exports no loadLogin().')
}

/** The files of the elements for pages without a bundler, and a page with the launcher. */
function scriptOfElements(project: string): Record<string, string> {
  const folder = join(project, 'node_modules', '@aiagent', 'elements', 'dist', 'script')
  const names = readdirSync(folder)
  // Each language is a script, and so is each optional part. A page does not load the licenses.
  const parts = names.filter(name => name.endsWith('.js') && !/^(?!ai-)[a-z]{2}(?:-[a-z]{2})?-[^-]/.test(name))
  if (parts.length > 17)
    throw new Error(
      `The script build of the elements has ${parts.length} scripts beside the languages: ${parts.join(', ')}.`,
    )
  return {
    ...Object.fromEntries(names.map(name => [`/elements/${name}`, readFileSync(join(folder, name), 'utf8')])),
    '/elements/': `<!doctype html><script type="module" src="ai-agent-launcher.js"></script><script type="module">
      const launcher = document.createElement('ai-agent-launcher')
      launcher.setAttribute('endpoint', location.hash.slice(1))
      launcher.setAttribute('agent-id', 'help')
      document.body.append(launcher)
    </script>`,
  }
}

/** Opens a chat by the launcher, which loads no more before the click than its ceiling, and says so where its code is missing. */
async function openElement(chromium: LaunchedChromium, address: string): Promise<void> {
  const page = await chromium.newPage()
  const sizes: Promise<number>[] = []
  const measure = (response: Response) => {
    if (response.url().endsWith('.js')) sizes.push(response.body().then(body => gzipSync(body, { level: 9 }).length))
  }
  page.on('response', measure)
  await page.goto(address, { waitUntil: 'networkidle' })
  page.off('response', measure)
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  if (bytes === 0 || bytes > ceilings.size.launcher.gzip * 1_000)
    throw new Error(`The launcher loads ${bytes} bytes, compressed, before a click.`)
  await page.getByRole('button', { name: 'Chat', exact: true }).click()
  await page.getByRole('textbox').waitFor()
  await page.route(/\/launcher-/, route => route.abort())
  await page.reload()
  await page.getByRole('alert').getByText('could not be loaded').waitFor()
  await page.close()
}

async function talkInPage(
  chromium: LaunchedChromium,
  address: string,
  endpoint: string,
  exported: string,
): Promise<void> {
  const page = await chromium.newPage()
  const failures: string[] = []
  page.on('pageerror', error => failures.push(error.message))
  await page.goto(address)
  const talk = `Promise.all([import('/conversation.js'), import('/whole-build.js')]).then(async ([{ conversation }, { checkBuild }]) => {
    await checkBuild(entries, ${exported})
    return conversation(entries['@aiagent/client'], ${JSON.stringify(endpoint)})
  })`
  await page.evaluate(talk).catch((error: unknown) => {
    throw new Error(`${address} did not talk: ${error} ${failures.join(' ')}`)
  })
  await page.close()
}
