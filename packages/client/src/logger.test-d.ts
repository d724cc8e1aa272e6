import { assertType, describe, expectTypeOf, it } from 'vitest'
import { type LogEntry, Logger, type LoggerConfig, type LoggerEvents, LogLevel } from './index.ts'
import type { LogContext, LoggerSink, LogLevelName } from './logger.ts'

describe('logging', () => {
  it('LogLevel, LogLevelName: six levels, by number and by name', () => {
    expectTypeOf<LogLevel>().toEqualTypeOf<0 | 1 | 2 | 3 | 4 | 5>()
    assertType<LogLevel>(LogLevel.WARN)
    // @ts-expect-error unknown level
    assertType<LogLevel>(6)
    expectTypeOf<LogLevelName>().toEqualTypeOf<'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'FATAL'>()
    // @ts-expect-error names are upper case
    assertType<LogLevelName>('warn')
  })

  it('LogContext: values by name', () => {
    assertType<LogContext>({ attempt: 2 })
    // @ts-expect-error a string is not an object
    assertType<LogContext>('attempt 2')
  })

  it('LogEntry: a message with level and timestamp', () => {
    assertType<LogEntry>({ level: LogLevel.INFO, message: 'Connected.', timestamp: 0, error: null })
    // @ts-expect-error the level is a number
    assertType<LogEntry>({ level: 'INFO', message: 'Connected.', timestamp: 0 })
  })

  it('LoggerConfig: every option is optional', () => {
    assertType<LoggerConfig>({ name: 'shop', level: LogLevel.DEBUG, contextProvider: () => undefined })
    // @ts-expect-error the context provider is a function
    assertType<LoggerConfig>({ contextProvider: { tab: 1 } })
  })

  it('LoggerEvents: one event', () => {
    assertType<LoggerEvents>({ log: { level: LogLevel.INFO, message: 'Connected.', timestamp: 0 } })
    new Logger().on('log', entry => expectTypeOf(entry).toEqualTypeOf<LogEntry>())
    // @ts-expect-error an event carries an entry
    assertType<LoggerEvents>({ log: 'Connected.' })
  })

  it('Logger: a logger, not the console', () => {
    assertType<Logger>(new Logger({ enableConsole: false }))
    // @ts-expect-error the console has neither levels nor children
    assertType<Logger>(console)
  })

  it('LoggerSink: a console and a clock', () => {
    assertType<LoggerSink>({ console, now: () => 0 })
    // @ts-expect-error the time is a function
    assertType<LoggerSink>({ console, now: 0 })
  })
})
