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
