import type { SessionRecord } from '@aiagent/emulator'
import type { Host } from '../host/host.ts'
import type { HostMessage } from '../host/host-message.ts'
import { isLossless, losesSessions, type Schedule } from '../schedule/step.ts'
import { examples, type Violation, type ViolationKind } from './violation.ts'

/** Contents of the user messages that arrived at the service in a session, in order. */
export function receivedIn({ received }: SessionRecord): string[] {
  return received.entries().flatMap(({ message }) => (message?.role === 'human' ? (message.content ?? '') : []))
}

/** Contents of the user messages that the service has taken, in order: with receipts without repetitions. */
function takenIn(session: SessionRecord, hasReceipts: boolean): string[] {
  if (!hasReceipts) return receivedIn(session)
  return session.accepted
    .entries()
    .flatMap(({ duplicate, message }) => (duplicate || message.role !== 'human' ? [] : (message.content ?? '')))
}

/** Compares what the host sent, and what the agent reported, with what the service has. */
export function checkDelivery(
  host: Host,
  sessions: readonly SessionRecord[],
  schedule: Schedule,
  hasRecovered: boolean,
): Violation[] {
  const { setup } = schedule
  const hasReceipts = setup.capabilities.includes('receipts')
  const violations: Violation[] = []
  const add = (kind: ViolationKind, text: string, found: readonly unknown[]) => {
    if (found.length > 0) violations.push({ kind, text: `${text}: ${examples(found)}` })
  }
  const taken = sessions.map(session => takenIn(session, hasReceipts))
  const received = new Set(sessions.flatMap(receivedIn))
  const byContent = new Map(host.messages.map(message => [message.content, message]))
  add(
    'untrue report',
    'received, but never sent',
    [...received].filter(content => !byContent.has(content)),
  )

  const seen = new Set<string>()
  const repeated = taken.flatMap(contents => {
    const seenHere = new Set<string>()
    return contents.filter(content => {
      const isHere = seenHere.has(content)
      const isRepeated = seen.has(content)
      seenHere.add(content)
      seen.add(content)
      return isRepeated && !mayRepeat(byContent.get(content), isHere, host, schedule)
    })
  })
  add('duplicated', 'taken more than once', repeated)
  for (const contents of taken)
    for (const kind of ['send', 'ask'] as const) {
      const order = [...new Set(contents)].flatMap(content => {
        const message = byContent.get(content)
        // The host, or a slow store, has put it behind the others.
        if (message?.retriedAt.length || message?.isLate) return []
        return message?.kind === kind ? message.index : []
      })
      add(
        'reordered',
        `${kind}() out of order`,
        order.filter((index, at) => at > 0 && index < Number(order[at - 1])),
      )
    }

  const sent = host.messages.filter(({ kind }) => kind === 'send')
  const named = (messages: readonly HostMessage[]) => messages.map(({ content, fate }) => `${content} (${fate})`)
  const has = ({ content }: HostMessage) => received.has(content)
  add(
    'untrue report',
    'refused, but received',
    named(sent.filter(message => message.result === 'refused' && has(message))),
  )
  const accepted = sent.filter(({ result }) => result === 'accepted')
  const of = (...fates: unknown[]) => accepted.filter(({ fate }) => fates.includes(fate))
  add('hung', 'no outcome of the delivery', named(of(undefined)))
  add('untrue report', 'acknowledged, but not received', named(of('acknowledged').filter(message => !has(message))))
  add('untrue report', 'reported as not sent, but received', named(of('failed', 'cancelled').filter(has)))
  const { dropped, named: reported, undone } = host.events
  // `at-least-once` does by itself what `retry()` does.
  if (setup.delivery === 'at-most-once') add('untrue report', 'changed after the outcome', undone)
  add(
    'untrue report',
    'dropped without an error event',
    named(of('failed').filter(({ id = '' }) => dropped.has(id) && !reported.has(id))),
  )
  if (!hasRecovered) return violations

  add('lost', 'left in the store', named(accepted.filter(({ isStored, fate }) => isStored && fate === 'ended')))
  add('lost', 'neither received nor reported', named(of('queued', 'sending', 'sent').filter(message => !has(message))))
  if (isLossless(schedule)) add('lost', 'not received, without any loss', named(of('unknown').filter(m => !has(m))))
  if (!hasReceipts || losesSessions(schedule)) return violations
  const known = new Set(taken.flat())
  add('lost', 'not taken, in spite of receipts', named(of('unknown').filter(({ content }) => !known.has(content))))
  add(
    'untrue report',
    'unknown, in spite of receipts',
    named(of('unknown').filter(({ content }) => known.has(content))),
  )
  return violations
}

/**
 * Whether the service may have taken a message twice: the host has retried it, or it was in doubt, so that the agent may
 * repeat it by itself with `at-least-once`. With receipts the service recognizes a repetition, but only in its session: where
 * it no longer knows the session, the messages in doubt go into the next one.
 *
 * @param isHere whether it was taken twice in one session
 */
function mayRepeat(message: HostMessage | undefined, isHere: boolean, { events }: Host, { setup }: Schedule): boolean {
  if (!message) return false
  if (message.retriedAt.length > 0) return true
  if (setup.delivery === 'at-most-once' || (isHere && setup.capabilities.includes('receipts'))) return false
  // Between two writes a connection broke.
  return message.writtenAt.every((at, index) => {
    const before = message.writtenAt[index - 1]
    return before === undefined || events.breaks.some(time => time >= before && time <= at)
  })
}
