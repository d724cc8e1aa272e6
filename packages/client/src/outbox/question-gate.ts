/** Admits one question at a time in several agents. */
export interface QuestionGate {
  /** Whether a question may be sent now. If not, `offered` is called when it may. */
  take(offered: () => void): boolean
  /** The question has its answer, or was given up. */
  end(): void
}
