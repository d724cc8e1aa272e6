import { setMaxListeners } from 'node:events'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandFailure, explainFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { oneLine } from '../output.ts'
import { junitReport } from '../reports/junit.ts'
import { blessTalk } from '../talks/bless.ts'
import { parseTalk, type Talk } from '../talks/parse-talk.ts'
import { openAgent, openTrace, type Partner } from '../talks/partner.ts'
import { inParallel, runTalk, type TalkFailure, type TalkResult } from '../talks/run-talk.ts'
import { printableJson, writeEntry } from '../terminal-text.ts'
import type { TestOptions } from '../test-options.ts'

/** Where the talks are held. */
interface Stage {
  open(talk: Talk): Promise<Partner>
  close(): void
  /** For messages of failures. */
  endpoint: string
}

/**
 * Holds talks with an agent, and reports which expectations hold.
 *
 * @returns the exit code: 1 when a talk could not be held, or an expectation does not hold and was not replaced
 * @throws {CommandFailure} when no file is a talk
 */
export async function test(options: TestOptions, io: Io): Promise<number> {
  const files = await findFiles(options.files)
  const { talks, unreadable } = await readTalks(files)
  const stage = await openStage(options)
  const runs = Array.from({ length: options.repeat }, () => talks).flat()
  try {
    const held = await inParallel(
      runs.map(talk => () => attempt(talk, stage, options)),
      options.jobs,
      io.interrupted,
    )
    const results = [...held, ...unreadable]
    if (options.bless) await bless(talks, held)
    if (options.json) io.stdout.write(`${printableJson(summaryOf(results))}\n`)
    else report(results, options, io)
    if (options.junit !== undefined) await writeFile(options.junit, toJunit(results))
    return results.every(result => result.outcome === 'passed' || (options.bless && wasHeld(result))) ? 0 : 1
  } finally {
    stage.close()
  }
}

/** The given files, and the Markdown files of given folders. */
async function findFiles(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async path => {
      const entry = await stat(path).catch((cause: unknown) => {
        throw new CommandFailure(`Cannot read ${path}.`, { cause })
      })
      if (!entry.isDirectory()) return [path]
      return (await readdir(path)).filter(name => name.endsWith('.md')).map(name => join(path, name))
    }),
  )
  const files = found.flat().sort()
  if (files.length === 0) throw new CommandFailure(`No Markdown file found in ${paths.join(', ')}.`)
  return files
}

/** The talks; a file that is not a talk has failed, and the others are held. */
async function readTalks(files: readonly string[]): Promise<{ talks: Talk[]; unreadable: TalkResult[] }> {
  const talks: Talk[] = []
  const failures: CommandFailure[] = []
  const unreadable: TalkResult[] = []
  for (const file of files) {
    try {
      talks.push(parseTalk(await readFile(file, 'utf8'), file))
    } catch (cause) {
      const failure = cause instanceof CommandFailure ? cause : new CommandFailure(`Cannot read ${file}.`, { cause })
      failures.push(failure)
      const [, line = '1', text] = failure.message.slice(file.length).match(/^:(\d+): (.*)$/s) ?? []
      unreadable.push(unheld({ file, title: file }, { line: Number(line), text: text ?? failure.message }))
    }
  }
  if (talks.length === 0) throw new CommandFailure(failures.map(({ message }) => message).join(' '))
  return { talks, unreadable }
}

function unheld({ file, title }: Pick<Talk, 'file' | 'title'>, failure: TalkFailure): TalkResult {
  return { file, title, outcome: 'failed', failures: [failure], notJudged: 0, ms: 0, exchanges: [] }
}

const wasHeld = ({ exchanges }: TalkResult) => exchanges.length > 0

async function openStage({ trace, endpoint, knowledge, agent, token, settleMs }: TestOptions): Promise<Stage> {
  if (trace !== undefined) {
    const text = await readFile(trace, 'utf8').catch((cause: unknown) => {
      throw new CommandFailure(`Cannot read ${trace}.`, { cause })
    })
    return { open: async () => openTrace(text), close: () => {}, endpoint: trace }
  }
  const auth = token === undefined ? {} : { auth: { type: 'pre-auth' as const, accessToken: token } }
  const configOf = (talk: Talk, address: string) => ({ id: talk.agent ?? agent, endpoint: address, ...auth })
  if (endpoint !== undefined)
    return { open: talk => openAgent({ config: configOf(talk, endpoint), settleMs }), close: () => {}, endpoint }
  // In this process, without a port: talks then depend on no network.
  const { createEmulator } = await import('@aiagent/emulator')
  const { createKnowledgeReply, loadKnowledge } = await import('@aiagent/emulator/node')
  // All talks that run at once wait for the same signals: this is not a leak.
  setMaxListeners(0)
  const emulator = createEmulator({ reply: createKnowledgeReply(await loadKnowledge(knowledge)) })
  const environment = { fetch: emulator.fetch, WebSocket: emulator.WebSocket }
  return {
    open: talk => openAgent({ config: configOf(talk, emulator.origin), environment, settleMs }),
    close: () => emulator.close(),
    endpoint: emulator.origin,
  }
}

/** A talk that cannot be held has failed; the others go on. */
async function attempt(talk: Talk, stage: Stage, options: TestOptions): Promise<TalkResult> {
  try {
    return await runTalk(talk, () => stage.open(talk), options.timeoutMs)
  } catch (error) {
    const text = explainFailure(error, { endpoint: stage.endpoint, agent: talk.agent ?? options.agent })
    return unheld(talk, { line: 1, text })
  }
}

async function bless(talks: readonly Talk[], results: readonly TalkResult[]): Promise<void> {
  for (const [index, talk] of talks.entries()) {
    const text = await readFile(talk.file, 'utf8')
    await writeFile(talk.file, blessTalk(text, talk, results[index]?.exchanges ?? []))
  }
}

function report(results: readonly TalkResult[], { repeat, bless: blessed }: TestOptions, io: Io): void {
  const show = repeat === 1 ? results : results.filter(({ outcome }) => outcome === 'failed')
  for (const result of show) {
    const { file, title, failures, ms, notJudged } = result
    writeEntry(io.stdout, `${markOf(result, blessed)}  ${oneLine(title)} (${ms} ms)`)
    for (const { line, text } of failures) writeEntry(io.stdout, `  ${file}:${line}: ${oneLine(text)}`)
    if (notJudged > 0) writeEntry(io.stdout, `  ${notJudged} expectations are not in the recording.`)
  }
  const count = (mark: string) => results.filter(result => markOf(result, blessed) === mark).length
  const replaced = blessed ? `, ${count('REPLACED')} replaced` : ''
  writeEntry(io.stdout, `${count('ok')} passed${replaced}, ${count('FAILED')} failed.`)
  if (blessed) {
    const held = results.filter(wasHeld).length
    writeEntry(io.stdout, `The answers of ${held} talks were written; what did not hold was replaced.`)
  }
}

/** With `--bless`, expectations that do not hold are replaced; a talk that could not be held has failed. */
function markOf(result: TalkResult, blessed: boolean): 'ok' | 'FAILED' | 'REPLACED' {
  if (result.outcome === 'passed') return 'ok'
  return blessed && wasHeld(result) ? 'REPLACED' : 'FAILED'
}

/** The output of `--json`, without the texts of the answers. */
function summaryOf(results: readonly TalkResult[]) {
  const failed = results.filter(({ outcome }) => outcome === 'failed').length
  const talks = results.map(({ exchanges: _, ...rest }) => rest)
  return { version: 1, passed: results.length - failed, failed, talks }
}

function toJunit(results: readonly TalkResult[]): string {
  return junitReport(
    'aiagent test',
    results.map(({ file, title, outcome, failures, ms }) => ({
      suite: file,
      name: title,
      seconds: ms / 1000,
      outcome,
      message: failures.map(({ line, text }) => `${file}:${line}: ${text}`).join('\n'),
    })),
  )
}
