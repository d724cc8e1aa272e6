import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { staticModules } from './core-modules.mjs'
import { LOGIN_FILE, LOGIN_MODULE, SCRIPT_INTRO } from './script-tag.mjs'

const source = path => fileURLToPath(new URL(`src/${path}`, import.meta.url))
/** Modules, and all that they load with their static imports. */
const modulesOf = (...names) => new Set(names.flatMap(name => [...staticModules(source(`${name}.ts`))]))
/**
 * What `AiAgent` needs at once; what the index exports of its other parts and must be the same there; and small modules that
 * the parts share with the login and with other entries, which must not load `start`.
 */
const CORE = modulesOf(
  'ai-agent',
  'agent/preload',
  'auth/auth-strategy',
  'auth/sign-in/provider-address',
  'conversation/escalation',
  'outbox/message',
  'platform/frame-limit',
  'platform/socket-pings',
  'util/fnv1a',
)
/** Values of the protocol that the index exports, or that its copies below need. */
const CORE_PROTOCOL = /[/]protocol[/]src[/](index|chat[/]error-code)[.]ts$/
/** Readers of records. The index has its own copies of classes that use them, and must load neither. */
const READING = /[/]protocol[/]src[/](reading|oauth[/]\w+)[.]ts$/
/** The REST calls of a run and the anonymous token, which the login and the doctor use too. */
const START = modulesOf(
  'agent/load-agent',
  'auth/anonymous-token',
  'auth/host-call',
  'chat/chat-address',
  'util/subject-fingerprint',
)
/** Small modules that other entries use too, such as the recorder, which must not load `start`. */
const SHARED = ['sha256', 'paths', 'codec', 'access-token', 'fetch-text']
/** The other parts of an agent, which load beside its first REST call. */
const PARTS = modulesOf('agent/build-agent')
/** What runs after the first `connected`: one file, so that what a reconnect needs is there before the connection is lost. */
const UPKEEP = modulesOf('conversation/upkeep', 'outbox/match-history')
/** Marks a second copy of a module. */
const COPY = '?copy'
const common = { target: 'es2022', fixedExtension: false }
/** Files for pages without a bundler: all dependencies inside. */
const script = {
  platform: 'browser',
  minify: true,
  dts: false,
  deps: { alwaysBundle: [/./], onlyBundle: false },
  inputOptions: { resolve: { conditionNames: ['@aiagent/source', 'import', 'browser', 'default'] } },
}

export default [
  {
    ...common,
    entry: {
      index: 'src/index.ts',
      pkce: 'src/pkce.ts',
      msal: 'src/msal.ts',
      unstorage: 'src/unstorage.ts',
      'react-native': 'src/react-native.ts',
      view: 'src/view.ts',
      recorder: 'src/recorder.ts',
      doctor: 'src/doctor.ts',
      otel: 'src/otel.ts',
      'websocket.node': 'src/platform/websocket.node.ts',
      'websocket.native': 'src/platform/websocket.native.ts',
    },
    format: ['esm', 'cjs'],
    platform: 'neutral',
    dts: true,
    sourcemap: true,
    // `AiAgent` is disposable: hosts whose `lib` lacks that type need it to compile the declarations.
    // The same for types of the platform: an empty declaration merges with that of the DOM or of Node.
    banner: {
      dts:
        '/// <reference lib="esnext.disposable" />\n' +
        'declare global { interface AbortSignal {} interface RequestInit {} interface Response {} interface URL {} interface Window {} }',
    },
    // Which of the two sockets is meant is decided where the package is used, by the conditions in package.json.
    // The protocol is inside, so that each of its readers is in the chunk that uses it.
    deps: { neverBundle: ['#websocket'], alwaysBundle: ['@aiagent/protocol'], onlyBundle: false },
    inputOptions: (options, format) => ({
      ...options,
      resolve: { ...options.resolve, conditionNames: ['@aiagent/source', 'import', 'default'] },
      // No comment for each module: the source maps name them.
      experimental: { ...options.experimental, attachDebugInfo: 'none' },
      plugins: [options.plugins, format === 'cjs' ? [] : copiesForIndex(), noBareImports()],
    }),
    // Else the bundler's helpers land in a chunk that is to load on demand, and CommonJS loads that at once.
    outputOptions: {
      // The declarations hold the docstrings: a quarter less on the disks of all hosts.
      comments: { jsdoc: false },
      codeSplitting: {
        groups: [
          { name: 'runtime', test: /rolldown\/runtime/ },
          // One file for all that `AiAgent` needs at once, and one for all that each run of `initialize()` needs. Lazy parts
          // share modules with both; without these groups a page would load a file for each set of sharers.
          { name: 'core', test: id => CORE.has(id) || CORE_PROTOCOL.test(id), priority: 4 },
          { name: 'parts', test: id => id.endsWith(COPY) },
          ...SHARED.map(name => ({ name, test: id => id.endsWith(`/${name}.ts`), priority: 3.5 })),
          { name: 'reading', test: READING, priority: 3.5 },
          { name: 'start', test: id => START.has(id), priority: 3 },
          { name: 'build-agent', test: id => PARTS.has(id), priority: 2 },
          { name: 'upkeep', test: id => UPKEEP.has(id), priority: 1 },
          // An exported class over lazy calls: in a file of its own, which a page without it drops.
          { name: 'api-helper', test: /[/]api[/]api-helper[.]ts$/ },
        ],
      },
    },
  },
  {
    ...common,
    ...script,
    // The script tag: one file with the global AiAgentSdk.
    entry: { 'ai-agent-sdk': 'src/index.ts' },
    format: 'iife',
    globalName: 'AiAgentSdk',
    // A script knows its own address only while it runs first.
    outputOptions: { intro: SCRIPT_INTRO },
    plugins: [loginBeside()],
  },
  {
    ...common,
    ...script,
    // The login, beside it: loaded when a user signs in.
    entry: { [LOGIN_FILE]: 'src/auth/sign-in/oidc-identity-client.ts' },
    format: 'esm',
  },
]

/**
 * Gives the index its own copies of what it exports of `start`: bundlers that assign whole files to chunks, such as
 * esbuild, would otherwise load that chunk with the index.
 */
function copiesForIndex() {
  const exported = source('parts.ts')
  return {
    name: 'copies-for-index',
    resolveId(asked, importer) {
      if (!importer || (importer !== exported && !importer.endsWith(COPY)) || !asked.startsWith('.')) return
      const id = resolve(dirname(importer), asked)
      return PARTS.has(id) && !CORE.has(id) ? id + COPY : id
    },
    load: id =>
      id.endsWith(COPY) ? { code: readFileSync(id.slice(0, -COPY.length), 'utf8'), moduleType: 'ts' } : undefined,
  }
}

/** No module has an effect when it is loaded, so an import without names only costs a request. */
function noBareImports() {
  return {
    name: 'no-bare-imports',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle))
        if (file.type === 'chunk' && file.fileName.endsWith('.js'))
          file.code = file.code.replaceAll(/^import "\.\/[^"]+";\n/gm, '')
    },
  }
}

/** Keeps the login out of the script: it is a second file at the script's address. */
function loginBeside() {
  const id = '\0login-beside'
  return {
    name: 'login-beside',
    resolveId: source => (source.endsWith('/oidc-identity-client.ts') ? id : undefined),
    load: asked => (asked === id ? LOGIN_MODULE : undefined),
  }
}
