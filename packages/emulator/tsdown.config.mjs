export default {
  entry: { index: 'src/index.ts', desk: 'src/desk/emulator-desk.ts', 'node/index': 'src/node/index.ts' },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  dts: true,
  deps: { neverBundle: [/^node:/] },
}
