/** The parameters from the parent process. */
export function parameters<Parameters>(): Parameters {
  return JSON.parse(process.argv[2] ?? '{}') as Parameters
}

/** Sends a result to the parent process. */
export function tell(report: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) throw new Error('This program is run by the bench.')
    process.send(report, undefined, undefined, error => (error ? reject(error) : resolve()))
  })
}

/** Sends the result to the parent process and exits, also with open handles. */
export async function finish(report: unknown): Promise<never> {
  await tell(report)
  process.exit(0)
}
