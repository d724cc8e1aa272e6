import { isJsonObject } from '@aiagent/protocol'
import type { Trace, TraceEntry } from '../platform/trace.ts'

const KINDS: ReadonlySet<unknown> = new Set<TraceEntry['kind']>([
  'call',
  'settled',
  'request',
  'connecting',
  'open',
  'closed',
  'closing',
  'sent',
  'received',
  'unreadable',
  'event',
])

/**
 * Reads a trace from the text of a file. Lenient: entries of unknown kinds, and those without what their kind needs, are
 * left out; missing facts have defaults.
 *
 * @throws {TypeError} when the text is not JSON, not a trace, or a trace of another version
 */
export function parseTrace(text: string): Trace {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (cause) {
    throw new TypeError('The trace is not JSON.', { cause })
  }
  if (!isJsonObject(given) || given['format'] !== 'aiagent-trace')
    throw new TypeError('The file is not a trace of an agent. Write one with recorder.exportTrace().')
  if (given['version'] !== 1)
    throw new TypeError(`The trace has version ${String(given['version'])}; this library reads 1.`)
  const { capabilities, dropped, endedAt, entries, hasContent, isAuthenticated, library, startedAt } = given
  return {
    format: 'aiagent-trace',
    version: 1,
    library: typeof library === 'string' ? library : 'unknown',
    startedAt: number(startedAt),
    endedAt: number(endedAt),
    dropped: number(dropped),
    hasContent: hasContent === true,
    capabilities: list(capabilities).filter(name => typeof name === 'string'),
    isAuthenticated: isAuthenticated === true,
    entries: list(entries).filter(isEntry),
  }
}

function isEntry(entry: unknown): entry is TraceEntry {
  if (!isJsonObject(entry) || !KINDS.has(entry['kind']) || typeof entry['t'] !== 'number') return false
  switch (entry['kind'] as TraceEntry['kind']) {
    case 'call':
      return typeof entry['call'] === 'number' && typeof entry['name'] === 'string'
    case 'settled':
      return typeof entry['call'] === 'number'
    case 'request':
      return typeof entry['path'] === 'string'
    case 'event':
      return typeof entry['type'] === 'string'
    case 'sent':
    case 'received':
      return typeof entry['socket'] === 'number' && isFrame(entry['frame'])
    case 'closed':
    case 'closing':
      return typeof entry['socket'] === 'number' && typeof entry['code'] === 'number'
    default:
      return typeof entry['socket'] === 'number'
  }
}

const isFrame = (frame: unknown) =>
  isJsonObject(frame) && typeof frame['persona'] === 'string' && typeof frame['role'] === 'string'
const number = (value: unknown) => (typeof value === 'number' ? value : 0)
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
