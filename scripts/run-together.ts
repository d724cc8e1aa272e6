import { spawn } from 'node:child_process'
import { ROOT } from './tools.ts'

/** One command to run beside others. */
export interface NamedCommand {
  name: string
  command: string
  args: readonly string[]
  /** The folder it runs in; by default the root. */
  cwd?: string
}

/**
 * Runs commands side by side and shows what a failed one wrote, each as one piece.
 *
 * @param limit how many run at the same time
 * @returns whether all ended with code 0
 */
export async function runTogether(commands: readonly NamedCommand[], limit: number): Promise<boolean> {
  const waiting = [...commands]
  let allPassed = true
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { code, output } = await runOne(next)
      if (code === 0) continue
      allPassed = false
      console.error(`${next.name} failed:\n${output}`)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, limit) }, worker))
  return allPassed
}

function runOne({ command, args, cwd = ROOT }: NamedCommand): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, shell: process.platform === 'win32', stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', reject)
    child.once('close', code => resolve({ code: code ?? 1, output }))
  })
}
