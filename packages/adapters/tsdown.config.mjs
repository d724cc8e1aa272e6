export default {
  entry: {
    'ai-sdk': 'src/ai-sdk.ts',
    'assistant-ui': 'src/assistant-ui.ts',
    'direct-line': 'src/direct-line.ts',
    vue: 'src/vue.ts',
    svelte: 'src/svelte.ts',
    angular: 'src/angular.ts',
    solid: 'src/solid.ts',
  },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  fixedExtension: false,
  dts: true,
  deps: { neverBundle: ['vue', 'solid-js', '@angular/core'] },
}
