import type { DeliveryState } from '@aiagent/client'

/** A message of the host. Its content is unique and names the user who wrote it. */
export interface HostMessage {
  readonly index: number
  readonly content: string
  readonly user: number
  readonly kind: 'send' | 'ask'
  /** Set once `send()` has accepted it. */
  id?: string
  /** When it was accepted, in milliseconds of the run without sleep. */
  acceptedAt?: number
  /** `accepted`: `send()` resolved, or `ask()` was answered. */
  result: 'pending' | 'accepted' | 'refused'
  /**
   * What the agent reported last about the delivery of an accepted message; `ended` for one that its process took with
   * it.
   */
  fate?: DeliveryState | 'ended'
  /** Times of the writes that the agent reported, in milliseconds of the run. */
  readonly writtenAt: number[]
  /** Times of `retry()`, in milliseconds of the run. */
  readonly retriedAt: number[]
  /** Whether it waits in the store for the next process of its user. */
  isStored?: boolean
  /** Whether the store had not returned it when a later process was ready: what was sent meanwhile goes first. */
  isLate?: boolean
}

/** Marks everything that a user wrote, so that it is recognized wherever it appears. */
export const markOf = (user: number): string => `secret-of-user-${user}-`
