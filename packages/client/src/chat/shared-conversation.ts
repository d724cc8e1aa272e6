import type { DeliveryRecord } from '../log/delivery.ts'
import type { DeliveryUpdate } from '../log/delivery-state.ts'
import type { Message } from '../log/message.ts'
import type { Transport, TransportListener } from './transport.ts'

/** The conversation that several tabs share, as the parts below it use it: its code loads with `tabs: 'share'` only. */
export interface SharedConversation {
  /** Opens the socket of the tabs; undefined while this tab shares none. */
  open(address: string, listener: TransportListener): Transport | undefined
  /** Whether another tab has the socket, and renews the token. */
  readonly isFollower: boolean
  /** Whether another tab sends what this one leaves unsent. */
  readonly isJoined: boolean
  /** The session of all tabs: the first one restores or creates it, the others use it. */
  readonly session: {
    /**
     * Joins the tabs with this key. Resolves with their session, else with what this tab has stored, unless that was taken out of
     * the conversation; undefined for the first tab, which creates one.
     */
    take(key: string, takeOwn: () => Promise<string | undefined>): Promise<string | undefined>
    /** This tab uses a session. */
    use(sessionId: string): void
    /** The session is no longer used. */
    drop(): void
    /** The agent was destroyed. */
    end(): void
  }
  /** Admits one question at a time in all tabs. */
  readonly turn: {
    /** Whether a question may be sent now. If not, `offered` is called when it may. */
    take(offered: () => void): boolean
    /** Takes the turn for a question that was started before this tab joined the others; false where another tab has it. */
    claim(): Promise<boolean>
    /** The question has its answer, or was given up. */
    end(): void
  }
  /** The messages of the other tabs. */
  readonly replica: {
    /** Compares the messages of all tabs with a history. */
    handleHistory(history: readonly Message[]): void
    /** Asks the tab that has sent a message to repeat or withdraw it. Returns whether that is possible. */
    act(record: DeliveryRecord, action: 'retry' | 'cancel'): boolean
  }
  /** The delivery of a message of this tab has changed. */
  handleUpdate(update: DeliveryUpdate): void
  /** A message of this tab has been accepted: written, or queued for the connection. */
  handleAccepted(record: DeliveryRecord): void
  /** The context has changed; null when it was removed. */
  handleContext(changed: Readonly<Record<string, unknown>> | null): void
  /** Awaited before the token of a user is used in place of an anonymous one. */
  handleUser(): Promise<void>
  /** The agent has a token of the user. */
  handleToken(token: string): void
}
