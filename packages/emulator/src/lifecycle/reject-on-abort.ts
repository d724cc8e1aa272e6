/** The result of the work, or the reason of the first signal that aborts, as soon as it does. */
export async function rejectOnAbort<T>(signals: readonly AbortSignal[], work: () => Promise<T>): Promise<T> {
  for (const signal of signals) signal.throwIfAborted()
  let onAbort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signals.find(signal => signal.aborted)?.reason)
    for (const signal of signals) signal.addEventListener('abort', onAbort)
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', onAbort)
  }
}
