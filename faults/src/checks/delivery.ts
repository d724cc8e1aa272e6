import type { SessionRecord } from '@aiagent/emulator'
import type { Host, HostMessage } from '../host/host.ts'
import { examples, type Violation } from './violation.ts'

/** Contents of the user messages that the service received in a session, in order. */
export function receivedIn({ received }: SessionRecord): string[] {
  return received.entries().flatMap(({ message }) => (message?.role === 'human' ? (message.content ?? '') : []))
}

/**
 * Compares what the host sent with what the service received: each message at most once and in order, none that was
 * refused, and with `isLossless` each one that was accepted, unless an event reported its fate.
 */
export function checkDelivery(host: Host, sessions: readonly SessionRecord[], isLossless: boolean): Violation[] {
  const violations: Violation[] = []
  const add = (kind: Violation['kind'], text: string, messages: readonly unknown[]) => {
    if (messages.length > 0) violations.push({ kind, text: `${text}: ${examples(messages)}` })
  }
  const byContent = new Map(host.messages.map(message => [message.content, message]))
  const times = new Map<string, number>()
  for (const content of sessions.flatMap(receivedIn)) times.set(content, (times.get(content) ?? 0) + 1)

  add(
    'untrue report',
    'received, but never sent',
    [...times.keys()].filter(content => !byContent.has(content)),
  )
  add(
    'duplicated',
    'received more than once',
    [...times].filter(([, count]) => count > 1).map(([content]) => content),
  )
  for (const session of sessions) {
    for (const kind of ['send', 'ask'] as const) {
      const order = receivedIn(session).flatMap(content => {
        const message = byContent.get(content)
        return message?.kind === kind ? message.index : []
      })
      add(
        'reordered',
        `received after a later one in ${session.id}`,
        order.filter((index, at) => at > 0 && index < (order[at - 1] as number)),
      )
    }
  }
  const sent = host.messages.filter(({ kind }) => kind === 'send')
  const hasArrived = ({ content }: HostMessage) => times.has(content)
  const isDropped = ({ id }: HostMessage) => id !== undefined && host.events.dropped.has(id)
  const contents = (messages: readonly HostMessage[]) => messages.map(({ content }) => content)
  add('untrue report', 'refused, but received', contents(sent.filter(m => m.result === 'refused' && hasArrived(m))))
  add('untrue report', 'reported as dropped, but received', contents(sent.filter(m => isDropped(m) && hasArrived(m))))
  if (isLossless) {
    const lost = sent.filter(m => m.result === 'accepted' && !hasArrived(m) && !isDropped(m))
    add('lost', 'accepted, but neither received nor reported', contents(lost))
  }
  return violations
}
