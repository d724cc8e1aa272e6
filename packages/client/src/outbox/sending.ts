import { addMessageId } from '@aiagent/protocol'
import { Evidence } from './evidence.ts'
import { Lane } from './lane.ts'
import { type DeliveryLedger, WINDOW } from './ledger.ts'
import type { OutboxOptions, SendingOptions } from './outbox-options.ts'
import type { ResendPolicy } from './resend-policy.ts'
import { TurnTaking } from './turn-taking.ts'

/** What the outbox uses to send: the socket's lane, the turns of questions, the evidence of arrival. Its code loads later. */
export interface Sending {
  readonly turns: TurnTaking
  readonly evidence: Evidence
  readonly lane: Lane
}

/** The outbox, as what sends uses it. */
export interface SendingHooks {
  readonly outbox: OutboxOptions
  readonly ledger: DeliveryLedger
  readonly policy: ResendPolicy
  /** Whether the store has to mark first what is sent. */
  isClaiming(): boolean
  startNextQuestion(): void
  /** Everything that could show the messages in doubt has been read. */
  decide(): void
}

/** Creates what the outbox sends with. */
export function createSending(options: SendingOptions, hooks: SendingHooks): Sending {
  const { ledger, policy } = hooks
  const { clock, origin, listener, hasReceipts, hasResume } = hooks.outbox
  const turns = new TurnTaking({
    clock,
    origin,
    onFree: hooks.startNextQuestion,
    policy,
    isResumed: () => hasResume() && hasReceipts(),
    gate: options.questionGate,
  })
  const evidence = new Evidence({
    clock,
    origin,
    isOwnSession: options.isOwnSession,
    ledger,
    decided: hooks.decide,
  })
  const lane = new Lane({
    clock,
    page: options.page,
    frameOf: entry => (policy.hasKey(entry) ? addMessageId(entry.data, entry.id) : entry.data),
    limit: () =>
      hooks.isClaiming() || (evidence.isPending && policy.isInsistent)
        ? 'none'
        : hasReceipts() && ledger.sentCount >= WINDOW
          ? 'resend'
          : undefined,
    written: entry => {
      ledger.handleWritten(entry)
      evidence.handleWritten()
      turns.handleWritten(entry)
    },
    left: entry => ledger.report(entry),
    flushed: listener.flushed,
  })
  return { turns, evidence, lane }
}
