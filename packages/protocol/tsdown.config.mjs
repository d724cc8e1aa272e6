export default {
  entry: ['src/index.ts', 'src/schemas.ts'],
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  // A file for each module: bundlers of pages split by file, and the readers of contact centers belong to a lazy chunk.
  unbundle: true,
  dts: true,
  // The declarations hold the docstrings.
  outputOptions: { comments: { jsdoc: false } },
}
