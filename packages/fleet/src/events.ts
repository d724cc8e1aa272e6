import type { DeliveryReason, MessageObject } from '@aiagent/client'

/** Why a message ended as it did: the reason of the agent, or that its worker ended while it sent the message. */
export type FleetDeliveryReason = DeliveryReason | 'worker_lost'

/** Every event of a fleet with its payload. */
export interface FleetEvents {
  /** The agent has said something, in the order of its conversation. `recovered` marks what was said while no worker listened. */
  agentMessage: {
    readonly conversationId: string
    readonly message: MessageObject & { readonly timestamp?: number }
    readonly recovered?: true
  }
  /**
   * What became of a message. `acknowledged`: the service has it. `unknown`: it may have it. `sent`: on a service without
   * receipts, it was written to a connection that then worked for 20 seconds more.
   */
  deliveryUpdate: {
    readonly conversationId: string
    /** The id that `send()` returned. */
    readonly id: string
    readonly state: 'acknowledged' | 'sent' | 'unknown' | 'failed' | 'cancelled'
    readonly reason?: FleetDeliveryReason
  }
  /** A worker holds the conversation for the first time, and its chat is open. */
  opened: { readonly conversationId: string }
  /** The conversation has ended by `end()`. Nothing of it is stored any more. */
  ended: { readonly conversationId: string }
  /** A worker could not start the conversation. It tries again later. */
  conversationError: { readonly conversationId: string; readonly code: string; readonly message: string }
}

/** Name of an event of a fleet. */
export type FleetEventType = keyof FleetEvents

/** Receives an event. With a group, the event counts as handled when the returned promise is fulfilled. */
export type FleetListener<Type extends FleetEventType> = (payload: FleetEvents[Type]) => unknown
