export default {
  entry: { index: 'src/index.ts', playwright: 'src/playwright.ts' },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  dts: true,
  deps: { neverBundle: [/^node:/] },
}
