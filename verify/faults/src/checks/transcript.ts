import type { SessionRecord } from '@aiagent/emulator'
import { PERSONA } from '@aiagent/protocol'
import type { Host } from '../host/host.ts'
import { answerTo } from '../service/service.ts'
import { examples, type Violation } from './violation.ts'

/**
 * Compares the transcript with the service's record of the session, for which all faults must be over.
 *
 * @param mayRepeat whether a message may have been sent twice, and so answered twice
 */
export function checkTranscript(host: Host, session: SessionRecord | undefined, mayRepeat: boolean): Violation[] {
  const violations: Violation[] = []
  const add = (text: string, items: readonly unknown[]) => {
    if (items.length > 0) violations.push({ kind: 'transcript', text: `${text}: ${examples(items)}` })
  }
  const entries = host.agent.getTranscript()
  const sent = entries.filter(e => e.direction === 'sent').map(e => e.message.content ?? '')
  const received = entries
    .filter(e => e.direction === 'received' && e.message.persona === PERSONA.AGENT)
    .map(e => e.message.content ?? '')
  if (!mayRepeat) add('sent twice in the transcript', repeated(sent.filter(isOwn)))
  if (!mayRepeat)
    add('received twice in the transcript', repeated(received.filter(content => isAnswer(content) || isNote(content))))
  for (const [at, content] of received.entries()) {
    if (!isAnswer(content)) continue
    const question = entries.findIndex(e => e.direction === 'sent' && answerTo(e.message.content ?? '') === content)
    const answer = entries.findIndex(e => e.direction === 'received' && e.message.content === content)
    if (question === -1 || question > answer) add('an answer before its question', [`${content} (${at})`])
  }
  if (!session) return violations
  const record = session.history.entries()
  const told = record.filter(({ persona }) => persona === PERSONA.CUSTOMER).map(({ content }) => content ?? '')
  add(
    'in the record of the service, but not in the transcript',
    told.filter(content => !sent.includes(content)),
  )
  const answers = record.filter(({ persona }) => persona === PERSONA.AGENT).map(({ content }) => content ?? '')
  add(
    'said by the agent, but not in the transcript',
    answers.filter(content => !received.includes(content)),
  )
  const known = new Set(answers)
  const own = received.filter(content => known.has(content))
  if (mayRepeat) return violations
  add(
    'answers in another order than in the record',
    own.filter((content, at) => at > 0 && answers.indexOf(content) < answers.indexOf(own[at - 1] as string)),
  )
  return violations
}

/**
 * Compares the `message` events with the `transcriptUpdate` events: both report every frame of the service once and in order.
 * Not where the service repeats missed frames, since a repeated frame is marked as recovered.
 */
export function checkEvents({ events }: Host): Violation[] {
  const recorded = events.transcript.filter(entry => entry.direction === 'received' && !entry.recovered)
  if (recorded.length === events.heard.length && recorded.every(({ message }, at) => message === events.heard[at]))
    return []
  const text = `${events.heard.length} messages reported, ${recorded.length} recorded, or in another order`
  return [{ kind: 'transcript', text }]
}

const isOwn = (content: string) => content.startsWith('secret-of-user-')
const isNote = (content: string) => content.startsWith('Note ')
const isAnswer = (content: string) => content.startsWith(answerTo(''))

function repeated(contents: readonly string[]): string[] {
  const seen = new Set<string>()
  return contents.filter(content => seen.has(content) || !seen.add(content))
}
