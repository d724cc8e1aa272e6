import { EXIT, EXIT_CODES } from '../../packages/cli/src/exit-codes.ts'

/** The table of the exit codes of the command. */
export function exitCodeReference(): string {
  const rows = Object.entries(EXIT_CODES).map(
    ([name, meaning]) => `| ${EXIT[name as keyof typeof EXIT]} | ${meaning} |`,
  )
  return ['| Code | Meaning |', '|---|---|', ...rows].join('\n')
}
