import { EventEmitter, Subscribable } from './util/event-emitter.ts'

const NAMES = { 0: 'TRACE', 1: 'DEBUG', 2: 'INFO', 3: 'WARN', 4: 'ERROR', 5: 'FATAL' } as const
const LEVELS = { TRACE: 0, DEBUG: 1, INFO: 2, WARN: 3, ERROR: 4, FATAL: 5 } as const

/** Severity of a log entry, by name, and the name of a severity: `LogLevel[entry.level]`. Lists the severities only. */
export const LogLevel: Readonly<typeof LEVELS & typeof NAMES> = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.assign(/* @__PURE__ */ Object.create(NAMES), LEVELS),
)
/** The name of a level. */
export type LogLevelName = keyof typeof LEVELS
/** One of the levels of {@link LogLevel}. */
export type LogLevel = (typeof LEVELS)[LogLevelName]

/** The name of a level, as `'WARN'`. */
export function getLevelName(level: LogLevel): LogLevelName {
  return NAMES[level] ?? 'INFO'
}

/** The level of a name, ignoring case; `INFO` for an unknown name. */
export function getLevelValue(name: string): LogLevel {
  return LEVELS[name.toUpperCase() as LogLevelName] ?? LEVELS.INFO
}

/** Whether an entry of this level passes the threshold. */
export function isLevelEnabled(level: LogLevel, threshold: LogLevel): boolean {
  return level >= threshold
}

/** Fields of a log entry beside its message. */
export type LogContext = Record<string, unknown>

/** What a `log` listener receives. */
export interface LogEntry {
  /** Severity of the entry. */
  level: LogLevel
  /** What happened, in one sentence. */
  message: string
  /** Milliseconds since the epoch. */
  timestamp: number
  /** Additional fields. */
  context?: LogContext
  /** The caught error. */
  error?: unknown
  /** Name of the logger that wrote the entry. */
  loggerName?: string
  /** Taken out of the context, so that it is never printed. */
  sessionId?: string
  /** Taken out of the context, like the session id. */
  agentId?: string
}

/** The events of a logger. */
export interface LoggerEvents {
  /** An entry at or above the logger's level. */
  log: LogEntry
}

/** Options of a logger. */
export interface LoggerConfig {
  /** Entries below this level are dropped. @default LogLevel.INFO */
  level?: LogLevel | undefined
  /** Whether entries are printed. Listeners of `log` receive them in both cases. @default true */
  enableConsole?: boolean | undefined
  /** Prefix of each printed line, and `LogEntry.loggerName`. */
  name?: string | undefined
  /** Called for each entry at or above the level; the entry's own context is merged over its result. If it throws, there is none. */
  contextProvider?: (() => LogContext | undefined) | undefined
}

/** Output for log entries: the part of a console that the library uses. */
export interface ConsoleSink {
  /** Prints entries of the levels `TRACE` and `DEBUG`. */
  debug(...data: unknown[]): void
  /** Prints entries of the level `INFO`. */
  info(...data: unknown[]): void
  /** Prints entries of the level `WARN`. */
  warn(...data: unknown[]): void
  /** Prints entries of the levels `ERROR` and `FATAL`. */
  error(...data: unknown[]): void
}

/** Output and clock of a logger. */
export interface LoggerSink {
  /** Output of the entries. */
  console: ConsoleSink
  /** Milliseconds since the epoch. */
  now(): number
}

/** For loggers created by a host. Reads the globals at each entry, so that importing this file touches none. */
const PLATFORM_SINK: LoggerSink = {
  get console() {
    // biome-ignore lint/style/noRestrictedGlobals: the logger is below the platform layer and cannot import it
    return globalThis.console
  },
  // biome-ignore lint/plugin: the logger is below the platform layer and cannot import it
  now: () => Date.now(),
}

const METHODS = ['debug', 'debug', 'info', 'warn', 'error', 'error'] as const

/**
 * Prints log entries and emits each as a `log` event.
 *
 * A child inherits its parent's level, console switch and context until it sets its own, and forwards its entries to the
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
    const { name } = config
    const emitter = new EventEmitter<LoggerEvents>(error =>
      // Printed, not logged: another entry would reach the failing listener again.
      sink.console.error(`${prefix('ERROR', name)} A listener of 'log' failed.`, error),
    )
    super(emitter)
    this.#emitter = emitter
    this.#name = name
    this.#level = config.level
    this.#console = config.enableConsole
    this.#provider = config.contextProvider
    this.#sink = sink
  }

  /** Logs a single step. */
  trace(message: string, context?: LogContext): void {
    this.#log(LogLevel.TRACE, message, undefined, context)
  }
  /** Logs how the library came to a state or decision. */
  debug(message: string, context?: LogContext): void {
    this.#log(LogLevel.DEBUG, message, undefined, context)
  }
  /** Logs something that a host wants to see in normal operation. */
  info(message: string, context?: LogContext): void {
    this.#log(LogLevel.INFO, message, undefined, context)
  }
  /** Logs a failure or loss after which the library continues. */
  warn(message: string, context?: LogContext): void {
    this.#log(LogLevel.WARN, message, undefined, context)
  }
  /** Logs a defect, with the thrown error. */
  error(message: string, error?: unknown, context?: LogContext): void {
    this.#log(LogLevel.ERROR, message, error, context)
  }
  /** Logs a failure after which the process cannot continue. */
  fatal(message: string, error?: unknown, context?: LogContext): void {
    this.#log(LogLevel.FATAL, message, error, context)
  }

  /** Sets the level of this logger and of children that have not set one. */
  setLevel(level: LogLevel): void {
    this.#level = level
  }
  /** The current level. Entries below it are dropped. */
  getLevel(): LogLevel {
    return this.#level ?? this.#parent?.getLevel() ?? LogLevel.INFO
  }

  /** Turns printing on or off. Listeners of `log` receive entries in both cases. @param enabled `true` by default */
  enableConsoleOutput(enabled = true): void {
    this.#console = enabled
  }
  /** Whether entries are printed. */
  isConsoleOutputEnabled(): boolean {
    return this.#console ?? this.#parent?.isConsoleOutputEnabled() ?? true
  }

  /** Creates a logger named `parent:name`. @param context fields of each of its entries, unless an entry sets them */
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
    let provided: LogContext | undefined
    try {
      provided = this.#provider?.()
    } catch {
      // The operation that logs must go on.
    }
    return { ...above, ...provided, ...this.#context }
  }
}

function prefix(level: LogLevelName, name: string | undefined): string {
  return name ? `[${level}] [${name}]` : `[${level}]`
}
