import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { StateStore } from '../state/state-store.ts'

const DOCUMENT = '.json'
const JOURNAL = '.jsonl'
const TEMPORARY = '.tmp'

/**
 * Keeps state in a folder: a file for each document, written beside its place and then renamed, and a file for each
 * journal, one entry a line. One process at a time may use the folder.
 *
 * A file that is damaged is renamed to `….damaged`, with a warning. An entry that was cut off at the end, because the
 * process was killed while it wrote, is removed.
 *
 * @param onWarning called with each warning; `process.emitWarning` by default
 * @throws {Error} when the folder cannot be made, naming it
 */
export function createFolderStore(folder: string, onWarning: (message: string) => void = warn): StateStore {
  const journals = join(folder, 'sessions')
  try {
    // Texts, tokens and logins are not for other users of the machine. A folder of the host keeps its mode: its files have theirs.
    mkdirSync(journals, { recursive: true, mode: 0o700 })
    chmodSync(journals, 0o700)
  } catch (cause) {
    throw new Error(`The folder for the state cannot be used: ${folder} (${messageOf(cause)}).`, { cause })
  }
  const documentFile = (name: string) => join(folder, fileName(name) + DOCUMENT)
  const journalFile = (id: string) => join(journals, fileName(id) + JOURNAL)
  let hasFailed = false

  const attempt = (write: () => void) => {
    try {
      write()
    } catch (error) {
      // A full disk must not end the service; it ends the promise that a restart forgets nothing.
      if (!hasFailed) onWarning(`The state of the emulator cannot be written any more: ${messageOf(error)}`)
      hasFailed = true
    }
  }
  const replace = (file: string, content: string) =>
    attempt(() => {
      writeFileSync(file + TEMPORARY, content, { mode: 0o600 })
      renameSync(file + TEMPORARY, file)
    })
  const putAside = (file: string, reason: string) => {
    onWarning(`${file} cannot be used: ${reason}. It is kept as ${file}.damaged.`)
    attempt(() => renameSync(file, `${file}.damaged`))
  }

  const readEntries = (file: string): unknown[] | undefined => {
    const content = readFileSync(file, 'utf8')
    const end = content.lastIndexOf('\n') + 1
    if (end < content.length) attempt(() => truncateSync(file, Buffer.byteLength(content.slice(0, end))))
    const entries: unknown[] = []
    for (const line of content.slice(0, end).split('\n').slice(0, -1)) {
      const entry = parse(line)
      if (entry === undefined) {
        putAside(file, `line ${entries.length + 1} is not JSON`)
        return undefined
      }
      entries.push(entry)
    }
    return entries
  }

  return {
    readDocument: name => {
      const file = documentFile(name)
      const content = readIfExists(file)
      if (content === undefined) return undefined
      const value = parse(content)
      if (value === undefined) putAside(file, 'it is not JSON')
      return value
    },
    writeDocument: (name, value) => replace(documentFile(name), `${JSON.stringify(value)}\n`),
    readJournals: () =>
      readdirSync(journals)
        .filter(name => name.endsWith(JOURNAL))
        .sort()
        .flatMap(name => {
          const file = join(journals, name)
          const id = decode(name.slice(0, -JOURNAL.length))
          const entries = readEntries(file)
          return entries && id !== undefined ? [{ id, entries }] : []
        }),
    startJournal: (id, entry) => replace(journalFile(id), `${JSON.stringify(entry)}\n`),
    addEntry: (id, entry) =>
      attempt(() => appendFileSync(journalFile(id), `${JSON.stringify(entry)}\n`, { mode: 0o600 })),
    deleteJournal: id => attempt(() => rmSync(journalFile(id), { force: true })),
    discardJournal: (id, reason) => putAside(journalFile(id), reason),
  }
}

function readIfExists(file: string): string | undefined {
  try {
    // Some editors put a byte order mark before the text.
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch {
    return undefined
  }
}

/** Undefined for text that is not JSON; JSON itself has no such value. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of a {@link fileName}; undefined for another name. */
function decode(name: string): string | undefined {
  try {
    return JSON.parse(`"${decodeURIComponent(name)}"`) as string
  } catch {
    return undefined
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function warn(message: string): void {
  process.emitWarning(message, { code: 'AIAGENT_EMULATOR_STATE' })
}

/** JSON escapes half of a surrogate pair, which cannot be encoded. */
function fileName(text: string): string {
  return encodeURIComponent(JSON.stringify(text).slice(1, -1))
}
