export default {
  entry: { index: 'src/index.ts' },
  format: 'esm',
  platform: 'node',
  target: 'es2022',
  fixedExtension: false,
  dts: true,
}
