import type { StateStore } from '@aiagent/emulator'

const PREFIX = 'playground-service/'

/** Keeps the state of the service in the page over a reload: in the tab's store. */
export function createSessionStateStore(storage: Storage): StateStore {
  const read = (key: string): unknown => {
    try {
      return JSON.parse(storage.getItem(PREFIX + key) ?? 'null') ?? undefined
    } catch {
      return undefined
    }
  }
  const write = (key: string, value: unknown) => {
    try {
      storage.setItem(PREFIX + key, JSON.stringify(value))
    } catch {
      // A full store costs the state after a reload, not the conversation.
    }
  }
  const journal = (id: string) => `journal/${id}`
  const remove = (id: string) => storage.removeItem(PREFIX + journal(id))
  return {
    readDocument: name => read(`document/${name}`),
    writeDocument: (name, value) => write(`document/${name}`, value),
    readJournals: () =>
      Object.keys(storage)
        .filter(key => key.startsWith(PREFIX + journal('')))
        .map(key => key.slice((PREFIX + journal('')).length))
        .map(id => ({ id, entries: (read(journal(id)) as unknown[] | undefined) ?? [] })),
    startJournal: (id, entry) => write(journal(id), [entry]),
    addEntry: (id, entry) => write(journal(id), [...((read(journal(id)) as unknown[] | undefined) ?? []), entry]),
    deleteJournal: remove,
    discardJournal: remove,
  }
}
