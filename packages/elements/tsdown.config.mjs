const common = { format: 'esm', platform: 'browser', target: 'es2022', fixedExtension: false }

export default [
  {
    ...common,
    entry: { index: 'src/index.ts', launcher: 'src/launcher.ts' },
    dts: true,
    sourcemap: true,
    outputOptions: { comments: { jsdoc: false } },
  },
  {
    ...common,
    // For pages without a bundler: modules with all dependencies inside, and what loads on demand beside them.
    entry: { 'ai-agent-chat': 'src/index.ts', 'ai-agent-launcher': 'src/launcher.ts' },
    outDir: 'dist/script',
    minify: true,
    dts: false,
    deps: { alwaysBundle: [/./], onlyBundle: false },
    inputOptions: { resolve: { conditionNames: ['@aiagent/source', 'import', 'browser', 'default'] } },
  },
]
