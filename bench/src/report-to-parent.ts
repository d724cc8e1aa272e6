/** What the starter of this program passed on. */
export function parameters<Parameters>(): Parameters {
  return JSON.parse(process.argv[2] ?? '{}') as Parameters
}

/** Tells the starter a result. */
export function tell(report: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!process.send) throw new Error('This program is run by the bench.')
    process.send(report, undefined, undefined, error => (error ? reject(error) : resolve()))
  })
}

/** Tells the starter the result and ends, whatever is still open. */
export async function finish(report: unknown): Promise<never> {
  await tell(report)
  process.exit(0)
}
