import { ROLE } from '@aiagent/client'

/** How a turn ended. `refused`: the service reported an error instead of an answer. `over`: no answer can come any more. */
export type TurnEnd = 'answered' | 'refused' | 'over'

interface Turn {
  readonly onBegin: () => void
  readonly onEnd: (end: TurnEnd) => void
  begun: boolean
}

/**
 * Decides which frame belongs to which line when lines are answered one after the other.
 *
 * The protocol does not say when an answer is complete: options may follow an answer at once, later, or not at all. So
 * the next line is sent as soon as the first answer is there, and its turn begins only with the first sign that the
 * service has taken it up: a heartbeat, or an answer. Options that come before that sign still belong to the line before.
 * It owns the present turn; no clock is needed.
 */
export class TurnTaking {
  #turn: Turn | undefined
  /** Whether options may still follow the answer of the line before. */
  #optionsOwed = false

  /** A line is about to be sent. @param onBegin called before anything that belongs to it is shown */
  start(onBegin: () => void, onEnd: (end: TurnEnd) => void): void {
    this.#turn = { onBegin, onEnd, begun: false }
  }

  /** The agent works on the line that was sent. */
  handleHeartbeat(): void {
    this.#begin()
  }

  /** The agent spoke. @param show puts it on the screen, in its place */
  handleAgentMessage(role: string, show: () => void): void {
    const isOptions = role === ROLE.FOLLOW_UP_QUESTION
    if (isOptions && (!this.#turn || (!this.#turn.begun && this.#optionsOwed))) {
      this.#optionsOwed = false
      show()
      return
    }
    this.#begin()
    show()
    this.#optionsOwed = !isOptions
    this.#end('answered')
  }

  /** The service reported an error. */
  handleErrorMessage(show: () => void): void {
    this.#begin()
    show()
    this.#end('refused')
  }

  /** Nothing will be answered any more: the conversation is closed, or time is up. */
  handleOver(): void {
    this.#begin()
    this.#end('over')
  }

  #begin(): void {
    if (!this.#turn || this.#turn.begun) return
    this.#turn.begun = true
    this.#turn.onBegin()
  }

  #end(end: TurnEnd): void {
    const turn = this.#turn
    this.#turn = undefined
    turn?.onEnd(end)
  }
}
