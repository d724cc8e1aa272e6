// The first line of src/main.ts, `#!/usr/bin/env node`, stays the first line of the command.
export default {
  entry: { main: 'src/main.ts', replay: 'src/replay.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  fixedExtension: false,
  dts: true,
}
