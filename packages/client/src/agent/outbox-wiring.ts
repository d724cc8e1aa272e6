import type { SDKError } from '../errors.ts'
import type { Masking } from '../masking/masking.ts'
import type { DeliveryUpdate } from '../outbox/delivery-state.ts'
import type { MessageOrigin } from '../outbox/message.ts'
import type { DeliveryMode, OutboxOptions } from '../outbox/outbox-options.ts'
import type { Clock } from '../platform/clock.ts'
import type { Late } from './agent-parts.ts'
import type { AgentScope } from './agent-scope.ts'

/** Connects the outbox with the other parts of its agent. */
export class OutboxWiring implements OutboxOptions {
  readonly #scope: AgentScope
  readonly #masking: Masking
  readonly #late: Late
  readonly origin: MessageOrigin
  readonly newId: () => string

  constructor(
    scope: AgentScope,
    { masking, late, origin, newId }: { masking: Masking; late: Late; origin: MessageOrigin; newId: () => string },
  ) {
    this.#scope = scope
    this.#masking = masking
    this.#late = late
    this.origin = origin
    this.newId = newId
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

  warn(text: string, details: Record<string, unknown>): void {
    this.#scope.logger.warn(text, details)
  }
}
