// What a program in a separate process has of the one that has started it, as a `ChildProgram`.
import { once } from 'node:events'

/** What the program was started with. */
export async function parameters<Parameters>(): Promise<Parameters> {
  const [given] = await once(process, 'message')
  return given as Parameters
}

/** Reports to the program that has started this one. */
export function tell(report: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) throw new Error('This program is started by another one, as a ChildProgram.')
    process.send(report, undefined, undefined, error => (error ? reject(error) : resolve()))
  })
}

/** Reports, and exits, also with open handles. */
export async function finish(report: unknown): Promise<never> {
  await tell(report)
  process.exit(0)
}
