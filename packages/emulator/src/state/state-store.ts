/**
 * Keeps the state of the service beyond its process: whole documents, and journals to which entries are added.
 *
 * Values are plain JSON. Everything is synchronous, so that what was acknowledged to a client is kept, and the order of
 * events does not depend on a disk. A store never throws because of damage: it reports it, and goes on without the
 * damaged part.
 */
export interface StateStore {
  /** Returns undefined for a document that does not exist or is damaged. */
  readDocument(name: string): unknown
  /** Replaces a document as a whole: a reader finds the old or the new one, never a part. */
  writeDocument(name: string, value: unknown): void
  /** All journals with their entries, oldest entry first. The last entry may be missing if the process was killed while it was added. */
  readJournals(): { id: string; entries: unknown[] }[]
  /** Begins a journal. */
  startJournal(id: string, entry: unknown): void
  /** Adds an entry, whole or not at all. */
  addEntry(id: string, entry: unknown): void
  /** Deletes a journal with its entries, if it exists. */
  deleteJournal(id: string): void
  /** Puts a journal aside that cannot be used, and reports why. */
  discardJournal(id: string, reason: string): void
}

/** A store that lives as long as the object: two emulators that share it are one service before and after a restart. */
export function createMemoryStore(): StateStore {
  // Kept as text, so that nobody holds a reference to what is kept.
  const documents = new Map<string, string>()
  const journals = new Map<string, string[]>()
  return {
    readDocument: name => parsed(documents.get(name)),
    writeDocument: (name, value) => void documents.set(name, JSON.stringify(value)),
    readJournals: () => [...journals].map(([id, entries]) => ({ id, entries: entries.map(parsed) })),
    startJournal: (id, entry) => void journals.set(id, [JSON.stringify(entry)]),
    addEntry: (id, entry) => void journals.get(id)?.push(JSON.stringify(entry)),
    deleteJournal: id => void journals.delete(id),
    discardJournal: id => void journals.delete(id),
  }
}

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text))
