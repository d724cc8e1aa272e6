export default {
  entry: { index: 'src/index.ts', 'ai-sdk': 'src/ai-sdk.ts' },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  dts: true,
  deps: { neverBundle: ['react'] },
}
