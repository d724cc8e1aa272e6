import { fileURLToPath } from 'node:url'
import { staticModules } from './core-modules.mjs'

const source = path => fileURLToPath(new URL(`src/${path}`, import.meta.url))
const CORE = staticModules(source('ai-agent.ts'))
const START = new Set([
  ...staticModules(source('agent/load-agent.ts')),
  ...staticModules(source('auth/anonymous-token.ts')),
])
const LOGIN_FILE = 'ai-agent-sdk-login'
// Starts to load as soon as it is imported, which is what loading ahead means; a failure is told to who needs it.
const LOGIN_MODULE = `
  let loading
  const load = () => loading ??= import(new URL('./${LOGIN_FILE}.js', aiAgentSdkAddress).href)
  load().catch(() => loading = undefined)
  export const createOidcIdentityClient = async settings => (await load()).createOidcIdentityClient(settings)
`
const common = { target: 'es2022', fixedExtension: false }
/** What pages load without a bundler: everything inside. */
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
      'websocket.node': 'src/platform/websocket.node.ts',
      'websocket.native': 'src/platform/websocket.native.ts',
    },
    format: ['esm', 'cjs'],
    platform: 'neutral',
    dts: true,
    // Which of the two sockets is meant is decided where the package is used, by the conditions in package.json.
    deps: { neverBundle: ['#websocket'] },
    // Else the bundler's helpers land in a chunk that is to load on demand, and CommonJS loads that at once.
    outputOptions: {
      codeSplitting: {
        groups: [
          { name: 'runtime', test: /rolldown\/runtime/ },
          // One file for all that `AiAgent` needs at once, and one for all that each run of `initialize()` needs. Lazy parts
          // share modules with both; without these groups a page would load a file for each set of sharers.
          { name: 'core', test: id => CORE.has(id), priority: 2 },
          { name: 'start', test: id => START.has(id), priority: 1 },
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
    // A script knows its own address only while it is loaded first.
    outputOptions: { banner: 'var aiAgentSdkAddress=document.currentScript&&document.currentScript.src;' },
    plugins: [loginBeside()],
  },
  {
    ...common,
    ...script,
    // What people sign in with, beside it: only pages on which somebody does load it.
    entry: { [LOGIN_FILE]: 'src/auth/sign-in/oidc-identity-client.ts' },
    format: 'esm',
  },
]

/** Takes the OpenID library out of the script: its place is a file of its own, at the script's address. */
function loginBeside() {
  const id = '\0login-beside'
  return {
    name: 'login-beside',
    resolveId: source => (source.endsWith('/oidc-identity-client.ts') ? id : undefined),
    load: asked => (asked === id ? LOGIN_MODULE : undefined),
  }
}
