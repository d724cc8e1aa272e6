import { ROLE } from '@aiagent/client'

/** How a turn ended. `refused`: the service reported an error. `over`: no answer can arrive any more. */
export type TurnEnd = 'answered' | 'refused' | 'over'

interface Turn {
  readonly onBegin: () => void
  readonly onEnd: (end: TurnEnd) => void
  begun: boolean
}

/**
 * Assigns frames to lines that are sent one after the other.
 *
 * The protocol does not mark the end of an answer: options may follow at once, later, or not at all. So the next line is
 * sent after the first answer. Its turn begins with the first heartbeat or answer after that. Options before this point
 * belong to the previous line. Owns the current turn; needs no clock.
 */
export class TurnTaking {
  #turn: Turn | undefined
  /** Whether options for the previous line may still arrive. */
  #optionsOwed = false

  /** Starts the turn of a line, before it is sent. @param onBegin called before its first output */
  start(onBegin: () => void, onEnd: (end: TurnEnd) => void): void {
    this.#turn = { onBegin, onEnd, begun: false }
  }

  /** A heartbeat: the agent works on the line. */
  handleHeartbeat(): void {
    this.#begin()
  }

  /** A message of the agent. @param show prints it */
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

  /** The conversation is closed, or the time limit is reached. */
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
