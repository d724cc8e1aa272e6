/** How much of the library's log is shown. */
export interface LogThreshold {
  readonly name: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Whether failures show where in the code they came from. */
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
