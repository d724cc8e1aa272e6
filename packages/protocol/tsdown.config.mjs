export default {
  entry: ['src/index.ts', 'src/schemas.ts'],
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  dts: true,
}
