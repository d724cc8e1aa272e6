import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  getLevelName,
  getLevelValue,
  isLevelEnabled,
  type LogEntry,
  Logger,
  type LoggerConfig,
  LogLevel,
  type LogLevelName,
} from './logger.ts'

function setUp(config: LoggerConfig = {}) {
  const printed: unknown[][] = []
  const print =
    (method: string) =>
    (...parts: unknown[]) =>
      void printed.push([method, ...parts])
  const console = { debug: print('debug'), info: print('info'), warn: print('warn'), error: print('error') }
  const logger = new Logger(config, { console, now: () => 1_000 })
  const entries: LogEntry[] = []
  logger.on('log', entry => entries.push(entry))
  return { logger, printed, entries }
}

describe('log levels', () => {
  it.each(Object.entries(LogLevel) as [LogLevelName, LogLevel][])(
    '%s has the value %i and goes back to its name',
    (name, value) => {
      expect(getLevelName(value)).toBe(name)
      expect(LogLevel[value]).toBe(name)
      expectTypeOf(LogLevel[value]).toEqualTypeOf<LogLevelName>()
      expect(getLevelValue(name.toLowerCase())).toBe(value)
    },
  )

  it('reads an unknown name as INFO', () => {
    expect(getLevelValue('loud')).toBe(LogLevel.INFO)
  })

  it('enables levels at or above the threshold', () => {
    expect(isLevelEnabled(LogLevel.WARN, LogLevel.WARN)).toBe(true)
    expect(isLevelEnabled(LogLevel.INFO, LogLevel.WARN)).toBe(false)
  })
})

describe('Logger', () => {
  it('drops entries below its level, INFO by default', () => {
    const { logger, entries, printed } = setUp()
    logger.debug('dropped')
    logger.info('logged')
    logger.setLevel(LogLevel.ERROR)
    logger.warn('dropped too')
    expect(entries.map(entry => entry.message)).toEqual(['logged'])
    expect(printed).toEqual([['info', '[INFO] logged']])
  })

  it('prints each level with the matching console method, with context and error', () => {
    const { logger, printed } = setUp({ level: LogLevel.TRACE, name: 'AiAgent:7' })
    const error = new Error('bad')
    logger.trace('t')
    logger.debug('d', { size: 1 })
    logger.warn('w')
    logger.error('e', error, { size: 2 })
    logger.fatal('f', error)
    expect(printed).toEqual([
      ['debug', '[TRACE] [AiAgent:7] t'],
      ['debug', '[DEBUG] [AiAgent:7] d', { size: 1 }],
      ['warn', '[WARN] [AiAgent:7] w'],
      ['error', '[ERROR] [AiAgent:7] e', { size: 2 }, error],
      ['error', '[FATAL] [AiAgent:7] f', error],
    ])
  })

  it('calls its context provider for each entry, and does not print session and agent ids', () => {
    let session = 'first'
    const { logger, entries, printed } = setUp({
      contextProvider: () => ({ sessionId: session, agentId: 7, page: 'home' }),
    })
    logger.info('one', { page: 'cart' })
    session = 'second'
    logger.info('two')
    expect(entries).toEqual([
      { level: 2, message: 'one', timestamp: 1_000, context: { page: 'cart' }, sessionId: 'first', agentId: '7' },
      { level: 2, message: 'two', timestamp: 1_000, context: { page: 'home' }, sessionId: 'second', agentId: '7' },
    ])
    expect(JSON.stringify(printed)).not.toMatch(/first|second/)
  })

  it('logs without the context of a provider that throws', () => {
    const { logger, entries } = setUp({
      contextProvider: () => {
        throw new Error('no page')
      },
    })
    const child = logger.createChild('connection', { part: 'chat' })
    logger.info('one', { page: 'cart' })
    child.info('two')
    expect(entries.map(({ message, context }) => [message, context])).toEqual([
      ['one', { page: 'cart' }],
      ['two', { part: 'chat' }],
    ])
  })

  it('does not call the provider for an entry below the level', () => {
    let calls = 0
    const { logger } = setUp({
      contextProvider: () => {
        calls++
        return {}
      },
    })
    logger.debug('dropped')
    expect(calls).toBe(0)
  })

  it('has children that inherit its level and console switch, and forward to its listeners', () => {
    const { logger, entries, printed } = setUp({ name: 'AiAgent:7' })
    const child = logger.createChild('connection', { part: 'chat' })
    const own: LogEntry[] = []
    child.on('log', entry => own.push(entry))
    child.debug('dropped')
    logger.setLevel(LogLevel.DEBUG)
    logger.enableConsoleOutput(false)
    child.debug('logged')
    expect(entries).toEqual([
      { level: 1, message: 'logged', timestamp: 1_000, context: { part: 'chat' }, loggerName: 'AiAgent:7:connection' },
    ])
    expect(own).toEqual(entries)
    expect(printed).toEqual([])
    expect(child.isConsoleOutputEnabled()).toBe(false)
  })

  it('lets a child set its own level', () => {
    const { logger, entries } = setUp()
    const child = logger.createChild('noisy')
    child.setLevel(LogLevel.TRACE)
    child.trace('logged')
    logger.trace('dropped')
    expect(entries.map(entry => entry.message)).toEqual(['logged'])
  })

  it('[EVT-09] prints the error of a listener and continues', () => {
    const { logger, entries, printed } = setUp()
    const failure = new Error('listener')
    logger.removeAllListeners().on('log', () => {
      throw failure
    })
    logger.on('log', entry => entries.push(entry))
    logger.info('one')
    expect(entries).toHaveLength(1)
    expect(printed).toEqual([
      ['info', '[INFO] one'],
      ['error', "[ERROR] A listener of 'log' failed.", failure],
    ])
  })
})
