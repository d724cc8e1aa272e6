/** The exit codes of the program. */
export const EXIT = {
  SUCCESS: 0,
  FAILURE: 1,
  USAGE: 2,
  WARNINGS: 3,
  SIGINT: 130,
  SIGTERM: 143,
} as const

/** What each exit code means, for the documents. */
export const EXIT_CODES: Readonly<Record<keyof typeof EXIT, string>> = {
  SUCCESS: 'success',
  FAILURE:
    'an error; of `chat`: also a line without an answer; of `replay`: the recording violates something; of `doctor`: a check failed; of `conform`: a rule is violated; of `test`: an expectation does not hold',
  USAGE: 'invalid command line',
  WARNINGS: '`doctor`: warnings only',
  SIGINT: 'ended by Ctrl-C before the work was done',
  SIGTERM: 'ended by SIGTERM before the work was done',
}
