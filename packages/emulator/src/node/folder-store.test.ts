import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryStore, type StateStore } from '../index.ts'
import { createFolderStore } from './folder-store.ts'

const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'aiagent-state-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A store, and the function that opens what it kept again. */
const STORES: Record<string, () => { store: StateStore; reopen: () => StateStore }> = {
  memory: () => {
    const store = createMemoryStore()
    return { store, reopen: () => store }
  },
  folder: () => {
    const folder = newFolder()
    const fail = (message: string) => expect.fail(message)
    return { store: createFolderStore(folder, fail), reopen: () => createFolderStore(folder, fail) }
  },
}

describe.each(Object.entries(STORES))('[REL-76] a %s store', (_, open) => {
  it('reads documents and journals as they were kept', () => {
    const { store, reopen } = open()
    expect(store.readDocument('service')).toBeUndefined()
    expect(store.readJournals()).toEqual([])
    store.writeDocument('service', { a: 1 })
    store.writeDocument('service', { a: 2 })
    store.startJournal('s-1', { start: true })
    store.addEntry('s-1', [{ text: 'line\nbreak' }])
    store.startJournal('../odd/id', 1)
    store.startJournal('s-2', 1)
    store.deleteJournal('s-2')
    const again = reopen()
    expect(again.readDocument('service')).toEqual({ a: 2 })
    expect(again.readJournals().sort((a, b) => b.id.localeCompare(a.id))).toEqual([
      { id: 's-1', entries: [{ start: true }, [{ text: 'line\nbreak' }]] },
      { id: '../odd/id', entries: [1] },
    ])
  })

  it('[SEC-71] keeps documents and journals apart whose names differ in half of a surrogate pair only', () => {
    const { store, reopen } = open()
    const names = ['n', 'n\ud83d', 'n\ude00', 'n\ufffd', 'n\\ud83d', '"']
    for (const name of names) {
      store.writeDocument(name, { name })
      store.startJournal(name, { name })
      store.addEntry(name, 'more')
    }
    const again = reopen()
    expect(names.map(name => again.readDocument(name))).toEqual(names.map(name => ({ name })))
    const kept = new Map(again.readJournals().map(({ id, entries }) => [id, entries]))
    expect(names.map(name => kept.get(name))).toEqual(names.map(name => [{ name }, 'more']))
    for (const name of names) again.deleteJournal(name)
    expect(reopen().readJournals()).toEqual([])
  })

  it('keeps values as they were when they were given', () => {
    const { store, reopen } = open()
    const value = { list: [1] }
    store.writeDocument('a', value)
    store.startJournal('b', value)
    value.list.push(2)
    expect(reopen().readDocument('a')).toEqual({ list: [1] })
    expect(reopen().readJournals()).toEqual([{ id: 'b', entries: [{ list: [1] }] }])
  })
})

describe('[REL-77] a damaged folder', () => {
  it('costs the damaged journal only, with a warning', () => {
    const folder = newFolder()
    const store = createFolderStore(folder)
    for (const id of ['s-1', 's-2']) {
      store.startJournal(id, 1)
      store.addEntry(id, 2)
    }
    const file = join(folder, 'sessions', 's-1.jsonl')
    writeFileSync(file, '1\n{"half\n3\n')
    const warnings: string[] = []
    expect(createFolderStore(folder, message => warnings.push(message)).readJournals()).toEqual([
      { id: 's-2', entries: [1, 2] },
    ])
    expect(warnings).toEqual([`${file} cannot be used: line 2 is not JSON. It is kept as ${file}.damaged.`])
    expect(readFileSync(`${file}.damaged`, 'utf8')).toBe('1\n{"half\n3\n')
  })

  it('loses an entry that was cut off, and takes the next one behind those that are whole', () => {
    const folder = newFolder()
    const store = createFolderStore(folder)
    store.startJournal('s-1', 1)
    appendFileSync(join(folder, 'sessions', 's-1.jsonl'), '"é"\n{"cut": "of')
    const again = createFolderStore(folder, message => expect.fail(message))
    expect(again.readJournals()).toEqual([{ id: 's-1', entries: [1, 'é'] }])
    again.addEntry('s-1', 3)
    expect(again.readJournals()).toEqual([{ id: 's-1', entries: [1, 'é', 3] }])
  })

  it('loses a damaged document with a warning, and ignores what was being written', () => {
    const folder = newFolder()
    const store = createFolderStore(folder)
    store.writeDocument('service', { a: 1 })
    writeFileSync(join(folder, 'service.json'), '\uFEFF{"a":1}\n')
    writeFileSync(join(folder, 'service.json.tmp'), '{"a"')
    expect(store.readDocument('service')).toEqual({ a: 1 })
    writeFileSync(join(folder, 'service.json'), '{"a"')
    const warnings: string[] = []
    const again = createFolderStore(folder, message => warnings.push(message))
    expect(again.readDocument('service')).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining('service.json cannot be used: it is not JSON')])
    expect(readdirSync(folder)).toContain('service.json.damaged')
  })

  it('that cannot be made is named', () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    expect(() => createFolderStore(file)).toThrow(`The folder for the state cannot be used: ${file} (ENOTDIR`)
  })

  it('that cannot be written to is reported once, and does not throw', () => {
    const folder = newFolder()
    const warnings: string[] = []
    const store = createFolderStore(folder, message => warnings.push(message))
    rmSync(folder, { recursive: true })
    store.writeDocument('service', 1)
    store.startJournal('s-1', 1)
    store.addEntry('s-1', 2)
    expect(warnings).toEqual([expect.stringMatching(/^The state of the emulator cannot be written any more: ENOENT/)])
  })
})

it.skipIf(process.platform === 'win32')('[SEC-94] keeps its files from other users of the machine', () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777
  const made = join(newFolder(), 'state')
  const given = newFolder()
  // A folder of the host, where an earlier version kept its journals.
  mkdirSync(join(given, 'sessions'))
  for (const path of [given, join(given, 'sessions')]) chmodSync(path, 0o755)
  for (const folder of [made, given]) {
    const store = createFolderStore(folder)
    store.writeDocument('service', { secret: 1 })
    store.addEntry('s-1', { text: 'private' })
    store.startJournal('s-2', { text: 'private' })
    expect(modeOf(join(folder, 'sessions'))).toBe(0o700)
    const files = ['service.json', join('sessions', 's-1.jsonl'), join('sessions', 's-2.jsonl')]
    expect(files.map(name => modeOf(join(folder, name)))).toEqual([0o600, 0o600, 0o600])
  }
  expect([modeOf(made), modeOf(given)]).toEqual([0o700, 0o755])
})
