// Tests the bindings against the real libraries: `npm run frameworks`. What only these tests need is installed here, so that the
// first `npm install` stays small.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownTool, ROOT, runOrThrow } from './tools.ts'

const FOLDER = join(ROOT, 'frameworks')

try {
  for (const folder of ['.', 'react-18', 'examples/vue', 'examples/webchat']) await install(join(FOLDER, folder))
  await runOrThrow(ownTool('tsc'), ['-p', 'frameworks'], { cwd: ROOT })
  await runOrThrow(ownTool('vitest'), ['run', '--config', 'frameworks/vitest.config.ts'], { cwd: ROOT })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

/** Installs the libraries of a folder, unless they are there as its lock file says. */
async function install(cwd: string): Promise<void> {
  const lock = readFileSync(join(cwd, 'package-lock.json'), 'utf8')
  const installed = join(cwd, 'node_modules', '.installed-lock.json')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return
  await runOrThrow('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd })
  writeFileSync(installed, lock)
}
