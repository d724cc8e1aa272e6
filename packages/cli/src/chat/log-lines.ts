import { inspect } from 'node:util'
import { getLevelName, getLevelValue, type Logger, type LogLevel } from '@aiagent/client'
import type { LogThreshold } from '../log-threshold.ts'

/** The library's level for a threshold. `silent` maps to `fatal`; {@link showLog} prints nothing then. */
export function logLevelOf(threshold: LogThreshold): LogLevel {
  return getLevelValue(threshold.name === 'silent' ? 'fatal' : threshold.name)
}

/** Prints the entries of a log. */
export function showLog(logger: Logger, threshold: LogThreshold, show: (line: string) => void): void {
  if (threshold.name === 'silent') return
  logger.on('log', ({ level, loggerName, message, context, error }) => {
    const details = [context, error].filter(part => part !== undefined)
    const shown = details.map(part =>
      part instanceof Error && !threshold.showsStacks
        ? part.message
        : inspect(part, { depth: 3, breakLength: Infinity }),
    )
    show([`[${getLevelName(level)}]`, loggerName && `[${loggerName}]`, message, ...shown].filter(Boolean).join(' '))
  })
}
