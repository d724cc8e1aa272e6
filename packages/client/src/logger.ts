import { EventEmitter } from './util/event-emitter.ts'
import { Subscribable } from './util/subscribable.ts'

/** How grave a log entry is. */
export const LogLevel = { TRACE: 0, DEBUG: 1, INFO: 2, WARN: 3, ERROR: 4, FATAL: 5 } as const
/** One of the levels of {@link LogLevel}. */
export type LogLevel = (typeof LogLevel)[keyof typeof LogLevel]
/** The name of a level. */
export type LogLevelName = keyof typeof LogLevel

const NAMES = Object.keys(LogLevel) as LogLevelName[]

/** The name of a level, as `'WARN'`. */
export function getLevelName(level: LogLevel): LogLevelName {
  return NAMES[level] ?? 'INFO'
}

/** The level of a name, in whatever case; INFO for a name that is none. */
export function getLevelValue(name: string): LogLevel {
  return LogLevel[name.toUpperCase() as LogLevelName] ?? LogLevel.INFO
}

/** Whether an entry of this level passes the threshold. */
export function isLevelEnabled(level: LogLevel, threshold: LogLevel): boolean {
  return level >= threshold
}

/** What a log entry says beside its text, by name. */
export type LogContext = Record<string, unknown>

/** What a `log` listener receives. */
export interface LogEntry {
  level: LogLevel
  message: string
  /** Milliseconds since the epoch. */
  timestamp: number
  /** What goes with the text, by name. */
  context?: LogContext
  /** What went wrong, as it was caught. */
  error?: unknown
  /** The logger that was asked to write it. */
  loggerName?: string
  /** Lifted out of the context, so that it is never printed. */
  sessionId?: string
  agentId?: string
}

/** The events of a logger. */
export interface LoggerEvents {
  /** An entry that passed the level. */
  log: LogEntry
}

/** How a logger begins. All of it may be left out. */
export interface LoggerConfig {
  /** Entries below it cost nothing and go nowhere. @default LogLevel.INFO */
  level?: LogLevel | undefined
  /** Whether entries are printed. Listeners of `log` receive them in any case. @default true */
  enableConsole?: boolean | undefined
  /** Stands before every printed line and in `LogEntry.loggerName`. */
  name?: string | undefined
  /** Asked at each entry that passes the level; what it returns is merged under the entry's own context. */
  contextProvider?: (() => LogContext | undefined) | undefined
}

/** Where entries are printed, and what time it is. */
export interface LoggerSink {
  console: Pick<Console, 'debug' | 'info' | 'warn' | 'error'>
  /** Milliseconds since the epoch. */
  now(): number
}

/** For a logger that a host makes by itself. Looked up at each entry: importing this file touches no global. */
const PLATFORM_SINK: LoggerSink = {
  get console() {
    // biome-ignore lint/style/noRestrictedGlobals: the logger stands below the platform and cannot ask it
    return globalThis.console
  },
  // biome-ignore lint/plugin: likewise
  now: () => Date.now(),
}

const METHODS = ['debug', 'debug', 'info', 'warn', 'error', 'error'] as const

/**
 * Prints what happens, and tells it to the listeners of its `log` event.
 *
 * A child has its parent's level, console switch and context until it gets its own, and forwards its entries to the
 * parent's listeners.
 */
export class Logger extends Subscribable<LoggerEvents> {
  readonly #name: string | undefined
  readonly #sink: LoggerSink
  readonly #provider: (() => LogContext | undefined) | undefined
  readonly #emitter: EventEmitter<LoggerEvents>
  #level: LogLevel | undefined
  #console: boolean | undefined
  #parent: Logger | undefined
  #context: LogContext | undefined

  constructor(config: LoggerConfig = {}, sink: LoggerSink = PLATFORM_SINK) {
    const emitter = new EventEmitter<LoggerEvents>(error =>
      // Printed, not logged: an entry of its own would reach the failing listener again.
      sink.console.error(`${prefix('ERROR', config.name)} A listener of 'log' failed.`, error),
    )
    super(emitter)
    this.#emitter = emitter
    this.#name = config.name
    this.#level = config.level
    this.#console = config.enableConsole
    this.#provider = config.contextProvider
    this.#sink = sink
  }

  /** Every step. */
  trace(message: string, context?: LogContext): void {
    this.#log(LogLevel.TRACE, message, undefined, context)
  }
  /** How it came to something. */
  debug(message: string, context?: LogContext): void {
    this.#log(LogLevel.DEBUG, message, undefined, context)
  }
  /** Something a host wants to see in normal operation. */
  info(message: string, context?: LogContext): void {
    this.#log(LogLevel.INFO, message, undefined, context)
  }
  /** Something failed or was lost, and things go on. */
  warn(message: string, context?: LogContext): void {
    this.#log(LogLevel.WARN, message, undefined, context)
  }
  /** A defect, with what was thrown. */
  error(message: string, error?: unknown, context?: LogContext): void {
    this.#log(LogLevel.ERROR, message, error, context)
  }
  /** The process cannot go on. */
  fatal(message: string, error?: unknown, context?: LogContext): void {
    this.#log(LogLevel.FATAL, message, error, context)
  }

  /** Sets the level, for children without one of their own as well. */
  setLevel(level: LogLevel): void {
    this.#level = level
  }
  /** The level below which entries go nowhere. */
  getLevel(): LogLevel {
    return this.#level ?? this.#parent?.getLevel() ?? LogLevel.INFO
  }

  /** Prints entries from now on, or no longer. Listeners hear of them in any case. @default true */
  enableConsoleOutput(enabled = true): void {
    this.#console = enabled
  }
  /** Whether entries are printed. */
  isConsoleOutputEnabled(): boolean {
    return this.#console ?? this.#parent?.isConsoleOutputEnabled() ?? true
  }

  /** A logger for one part, named `parent:name`. @param context merged under the context of each of its entries */
  createChild(name: string, context?: LogContext): Logger {
    const child = new Logger({ name: this.#name ? `${this.#name}:${name}` : name }, this.#sink)
    child.#parent = this
    child.#context = context
    return child
  }

  #log(level: LogLevel, message: string, error: unknown, own: LogContext | undefined): void {
    if (level < this.getLevel()) return
    const { sessionId, agentId, ...context } = { ...this.#inherited(), ...own }
    const entry: LogEntry = { level, message, timestamp: this.#sink.now() }
    const hasContext = Object.keys(context).length > 0
    if (hasContext) entry.context = context
    if (error !== undefined) entry.error = error
    if (this.#name) entry.loggerName = this.#name
    if (sessionId !== undefined && sessionId !== null) entry.sessionId = String(sessionId)
    if (agentId !== undefined && agentId !== null) entry.agentId = String(agentId)
    if (this.isConsoleOutputEnabled()) {
      const details = [...(hasContext ? [context] : []), ...(error === undefined ? [] : [error])]
      this.#sink.console[METHODS[level]](`${prefix(getLevelName(level), this.#name)} ${message}`, ...details)
    }
    for (let logger: Logger | undefined = this; logger; logger = logger.#parent) logger.#emitter.emit('log', entry)
  }

  #inherited(): LogContext {
    const above = this.#parent ? this.#parent.#inherited() : undefined
    return { ...above, ...this.#provider?.(), ...this.#context }
  }
}

function prefix(level: LogLevelName, name: string | undefined): string {
  return name ? `[${level}] [${name}]` : `[${level}]`
}
