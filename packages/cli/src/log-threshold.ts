/** The lowest level of log entries to show. */
export interface LogThreshold {
  readonly name: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Whether failures are printed with stack traces. */
  readonly showsStacks: boolean
}

export const LOG_THRESHOLDS: readonly LogThreshold[] = [
  { name: 'trace', showsStacks: true },
  { name: 'debug', showsStacks: true },
  { name: 'info', showsStacks: false },
  { name: 'warn', showsStacks: false },
  { name: 'error', showsStacks: false },
  { name: 'silent', showsStacks: false },
]
