import type { SDKError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Masking } from '../masking/masking.ts'
import type { MessageIds } from '../outbox/compose.ts'
import type { DeliveryUpdate } from '../outbox/delivery-state.ts'
import type { MessageOrigin } from '../outbox/message.ts'
import type { DeliveryMode, OutboxOptions } from '../outbox/outbox-options.ts'
import type { Clock } from '../platform/clock.ts'
import type { EarlyParts, Late } from './agent-parts.ts'
import type { AgentScope } from './agent-scope.ts'

/** Connects the outbox with the other parts of its agent. */
export class OutboxWiring implements OutboxOptions {
  readonly #scope: AgentScope
  readonly #masking: Masking
  readonly #late: Late
  readonly origin: MessageOrigin
  readonly #ids: MessageIds

  constructor(
    scope: AgentScope,
    { masking, late, origin, ids }: Pick<EarlyParts, 'masking' | 'late' | 'origin' | 'ids'>,
  ) {
    this.#scope = scope
    this.#masking = masking
    this.#late = late
    this.origin = origin
    this.#ids = ids
  }

  get clock(): Clock {
    return this.#scope.environment.clock
  }

  get maxQueueSize(): number {
    return this.#scope.config.maxQueueSize
  }

  get doubtAfterMs(): number {
    return this.#scope.config.doubtAfterMs
  }

  get delivery(): DeliveryMode {
    return this.#scope.config.delivery
  }

  get logger(): Logger {
    return this.#scope.logger
  }

  newId(): string {
    return this.#ids.newId()
  }

  isReady(): boolean {
    return this.#scope.status.isReady
  }

  hasReceipts(): boolean {
    return this.#scope.facts.hasCapability('receipts')
  }

  hasResume(): boolean {
    return this.#scope.facts.hasCapability('resume')
  }

  mask(content: string, messageId: string): string {
    return this.#masking.maskOutgoing(content, messageId)
  }

  flushed(count: number): void {
    this.#scope.emit('queueFlushed', () => ({ count }))
  }

  failed(error: SDKError): void {
    this.#scope.reportError(error)
  }

  updated(update: DeliveryUpdate): void {
    this.#scope.emit('deliveryUpdate', () => update)
    this.#late.parts?.tabs?.group?.handleUpdate(update)
  }
}
