import type { SourceChange } from '../bundle.ts'
import type { ViolationKind } from '../checks/violation.ts'

/** A bug that the campaign must find. */
export interface PlantedBug extends SourceChange {
  /** What is wrong with it, in a few words. */
  readonly title: string
  /** The runs that must find it, if it needs several tabs. */
  readonly transport?: 'tabs'
  /** The violations that show it. */
  readonly shownBy: readonly ViolationKind[]
}

/** Bugs that are put into the client, one at a time, to prove that the campaign would find them. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'lost-queue-head',
    title: 'the first message of the queue is lost when its write fails',
    file: 'packages/client/src/outbox/burst-writer.ts',
    find: 'if (!this.#write(entry, entry.message.toPayloadString(), channel.transport)) return\n',
    replace:
      'if (!this.#write(entry, entry.message.toPayloadString(), channel.transport)) return void this.#log.remove(entry)\n',
    shownBy: ['lost', 'hung'],
  },
  {
    name: 'double-flush',
    title: 'the last message of each burst of the queue is written twice',
    file: 'packages/client/src/outbox/burst-writer.ts',
    find: '      else this.#flushed++\n',
    replace:
      '      else if (++this.#flushed > 0 && left === 1) this.#write(entry, entry.message.toPayloadString(), channel.transport)\n',
    shownBy: ['duplicated'],
  },
  {
    name: 'swallowed-rejection',
    title: 'connect() does not reject when the attempt fails',
    file: 'packages/client/src/chat/connection.ts',
    find: '    attempt.settle(error)\n',
    replace: '    if (!error) attempt.settle()\n',
    shownBy: ['hung'],
  },
  {
    name: 'missed-answer',
    title: 'the first message that was missed in an outage is not recovered',
    file: 'packages/client/src/conversation/recovery.ts',
    find: 'log.insert(mergeHistory(history, options), options.sessionId',
    replace: 'log.insert(mergeHistory(history, options).slice(1), options.sessionId',
    shownBy: ['transcript'],
  },
  {
    name: 'user-data',
    title: 'the queue is not emptied when the user signs out',
    file: 'packages/client/src/outbox/outbox.ts',
    find: "    this.clear('signed_out')\n",
    replace: '',
    shownBy: ['user data'],
  },
  {
    name: 'undone-outcome',
    title: 'a message that was acknowledged is reported as unknown when its session ends',
    file: 'packages/client/src/outbox/delivery-ledger.ts',
    find: 'for (const entry of [...this.#log.sent])\n',
    replace:
      "for (const entry of this.#log.accepted)\n      if (entry.state === 'acknowledged') this.tell(entry, 'acknowledged', 'unknown', reason)\n    for (const entry of [...this.#log.sent])\n",
    shownBy: ['untrue report'],
  },
  {
    name: 'undone-outcome-of-tab',
    title: 'a message that was acknowledged turns unknown after its tab has closed, when the conversation ends',
    transport: 'tabs',
    file: 'packages/client/src/tabs/log-replica.ts',
    find: '    if (state === previous || (isSettled(previous) && !mayFollow(previous, state))) return false\n',
    replace: "    if (state === previous) return false\n    if (previous === 'acknowledged') record.state = 'sent'\n",
    shownBy: ['untrue report'],
  },
  {
    name: 'stored-token-of-tab',
    title: 'the tokens of a tab stay in its store when another tab signs out',
    transport: 'tabs',
    file: 'packages/client/src/tabs/tab-group.ts',
    find: '      void authentication.forgetUser()\n',
    replace: '',
    shownBy: ['user data'],
  },
  {
    name: 'stored-token',
    title: 'the token of an anonymous user stays in the page after logout()',
    file: 'packages/client/src/storage/keyed-store.ts',
    find: 'matches(key) && !inUse?.has(key)\n',
    replace: "matches(key) && !inUse?.has(key) && !key.includes('anonymous_token')\n",
    shownBy: ['user data'],
  },
  {
    name: 'recorded-session',
    title: 'a recording holds session ids',
    file: 'packages/client/src/recorder/redaction.ts',
    find: String.raw`path.replace(/\/sessions\/[^/]+/, '/sessions/-')`,
    replace: 'path',
    shownBy: ['user data'],
  },
  {
    name: 'unmasked-telemetry',
    title: 'answers are in the telemetry as they were received',
    file: 'packages/client/src/otel/turns.ts',
    find: "messagesOf('assistant', answer.content)",
    replace: "messagesOf('assistant', message.content ?? '')",
    shownBy: ['user data'],
  },
]
