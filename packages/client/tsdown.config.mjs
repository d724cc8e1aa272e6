import { writeFile } from 'node:fs/promises'

const common = { target: 'es2022', fixedExtension: false }

export default [
  {
    ...common,
    entry: {
      index: 'src/index.ts',
      pkce: 'src/pkce.ts',
      msal: 'src/msal.ts',
      'websocket.node': 'src/platform/websocket.node.ts',
      'websocket.native': 'src/platform/websocket.native.ts',
    },
    format: ['esm', 'cjs'],
    platform: 'neutral',
    dts: true,
    // Which of the two sockets is meant is decided where the package is used, by the conditions in package.json.
    deps: { neverBundle: ['#websocket'] },
    // Else the bundler's helpers land in a chunk that is to load on demand, and CommonJS loads that at once.
    outputOptions: { codeSplitting: { groups: [{ name: 'runtime', test: /rolldown\/runtime/ }] } },
    hooks: { 'build:done': writeCallbackPage },
  },
  {
    ...common,
    // The script tag: everything in one file, with the global AiAgentSdk.
    entry: { 'ai-agent-sdk': 'src/index.ts' },
    format: 'iife',
    globalName: 'AiAgentSdk',
    platform: 'browser',
    minify: true,
    dts: false,
    deps: { alwaysBundle: [/./], onlyBundle: false },
    inputOptions: { resolve: { conditionNames: ['@aiagent/source', 'import', 'browser', 'default'] } },
  },
]

/** The page that logins return to, as a file that hosts can copy to where they serve static ones. */
async function writeCallbackPage() {
  const { CALLBACK_PAGE } = await import(new URL('dist/pkce.js', import.meta.url).href)
  await writeFile(new URL('dist/callback.html', import.meta.url), CALLBACK_PAGE)
}
