import { fileURLToPath } from 'node:url'
import { staticModules } from './core-modules.mjs'
import { LOGIN_FILE, LOGIN_MODULE, SCRIPT_INTRO } from './script-tag.mjs'

const source = path => fileURLToPath(new URL(`src/${path}`, import.meta.url))
const CORE = staticModules(source('ai-agent.ts'))
const START = new Set([
  ...staticModules(source('agent/load-agent.ts')),
  ...staticModules(source('auth/anonymous-token.ts')),
])
/** What runs after the first `connected`: one file, so that what a reconnect needs is there before the connection is lost. */
const UPKEEP = new Set([
  ...staticModules(source('conversation/upkeep.ts')),
  ...staticModules(source('outbox/match-history.ts')),
])
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
    deps: { neverBundle: ['#websocket'] },
    // Else the bundler's helpers land in a chunk that is to load on demand, and CommonJS loads that at once.
    outputOptions: {
      // The declarations hold the docstrings: a quarter less on the disks of all hosts.
      comments: { jsdoc: false },
      codeSplitting: {
        groups: [
          { name: 'runtime', test: /rolldown\/runtime/ },
          // One file for all that `AiAgent` needs at once, and one for all that each run of `initialize()` needs. Lazy parts
          // share modules with both; without these groups a page would load a file for each set of sharers.
          { name: 'core', test: id => CORE.has(id), priority: 3 },
          { name: 'start', test: id => START.has(id), priority: 2 },
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

/** Keeps the login out of the script: it is a second file at the script's address. */
function loginBeside() {
  const id = '\0login-beside'
  return {
    name: 'login-beside',
    resolveId: source => (source.endsWith('/oidc-identity-client.ts') ? id : undefined),
    load: asked => (asked === id ? LOGIN_MODULE : undefined),
  }
}
