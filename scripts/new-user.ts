// Follows the first page of the guide as a new user does: its commands, word for word, in an empty folder.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveEmulator } from '@aiagent/emulator/node'
import { audit, type PackedPackage } from './package-checks.ts'
import { firstProgram } from './package-runtimes.ts'
import { ROOT, runOrThrow } from './tools.ts'

const PAGE = join(ROOT, 'docs', 'guide', 'try-the-packages.md')

/** Most packages that somebody gets who only chats. */
const PACKAGES_TO_CHAT = 20

/** What a new user does not see: nothing is asked of the registry that npm has in its cache. */
const QUIET = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }

const QUESTION = 'How do I reset my router?\n'

/** Follows the page in a folder beside a clone whose packages are packed. */
export async function followTheGuide(packages: readonly PackedPackage[], folder: string): Promise<void> {
  const tarballs = join(folder, 'aiagent-sdk', 'tarballs')
  mkdirSync(tarballs, { recursive: true })
  for (const { tarball } of packages) cpSync(tarball, join(tarballs, tarball.slice(tarball.lastIndexOf('/') + 1)))
  await writeFirstProgram(folder)
  await useTheCommand(folder)
}

async function writeFirstProgram(folder: string): Promise<void> {
  await follow('In a project', folder)
  const project = join(folder, 'my-chat')
  writeFileSync(join(project, 'hello.mjs'), firstProgram(PAGE))
  const hello = await runOrThrow(process.execPath, ['hello.mjs'], { cwd: project, timeoutMs: 30_000 })
  if (!/reset/i.test(hello)) throw new Error(`The first program of the guide did not answer:\n${hello}`)
  console.log('The first page of the guide works, word for word, in an empty folder.')
}

async function useTheCommand(folder: string): Promise<void> {
  await follow('In the terminal', folder)
  const project = join(folder, 'my-terminal')
  const count = countPackages(project)
  if (count > PACKAGES_TO_CHAT)
    throw new Error(`The command installs ${count} packages, not ${PACKAGES_TO_CHAT} at most.`)
  const command = join(project, 'node_modules', '.bin', 'aiagent')
  const service = await serveEmulator()
  try {
    for (const args of [[], ['--endpoint', service.url]]) {
      const options = { cwd: project, input: QUESTION, timeoutMs: 30_000 }
      const answer = await runOrThrow(command, ['chat', ...args], options)
      if (!/reset/i.test(answer)) throw new Error(`The packed command did not answer:\n${answer}`)
    }
  } finally {
    await service.close()
  }
  const refusal = await runOrThrow(command, ['chat', '--login'], { cwd: project, timeoutMs: 30_000 }).catch(String)
  if (!refusal.includes('npm install oidc-provider'))
    throw new Error(`--login does not say what to install:\n${refusal}`)
  const hint = await emulate(project, [], output => /npm install oidc-provider@\d+/.exec(output)?.[0])
  if (hint === undefined) throw new Error('`aiagent emulate` does not say what logins need.')
  await runOrThrow('bash', ['-c', hint], { cwd: project, env: QUIET })
  if (!(await emulate(project, [], output => /^Login for customers: /m.test(output))))
    throw new Error(`After "${hint}", the emulator still has no logins.`)
  console.log(`The command installs ${count} packages and answers; after "${hint}", its emulator offers logins.`)
  // The OpenID provider is in no other project of this step.
  await audit(project)
}

/** Runs the shell block below a heading of the page. */
async function follow(heading: string, folder: string): Promise<void> {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split(`\n## ${heading}\n`)
  const [, commands] = /```sh\n([\s\S]*?)```/.exec(section) ?? []
  if (commands === undefined) throw new Error(`${PAGE} has no commands below "${heading}".`)
  await runOrThrow('bash', ['-ec', commands], { cwd: folder, env: QUIET, input: QUESTION, timeoutMs: 120_000 })
}

function countPackages(project: string): number {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as { packages: object }
  return Object.keys(lock.packages).filter(path => path !== '').length
}

/** Runs `aiagent emulate` as long as `use` needs it, with what it has printed until it is ready. */
export async function emulate<T>(
  cwd: string,
  args: readonly string[],
  use: (output: string) => T | Promise<T>,
): Promise<T> {
  const command = join(cwd, 'node_modules', '.bin', 'aiagent')
  const child = spawn(process.execPath, [command, 'emulate', '--port', '0', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let output = ''
    for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      output += chunk
      if (output.includes('Ctrl-C')) break
    }
    return await use(output)
  } finally {
    child.kill()
  }
}
