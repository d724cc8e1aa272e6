export default {
  entry: { 'ai-sdk': 'src/ai-sdk.ts', 'assistant-ui': 'src/assistant-ui.ts', 'direct-line': 'src/direct-line.ts' },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  dts: true,
}
