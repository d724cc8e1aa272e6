/** Options of an operation that can be aborted. */
export interface OperationOptions {
  /** Aborts the operation, which rejects with code ABORTED. */
  signal?: AbortSignal
}

/** Options of `updateAccessToken()`. */
export interface UpdateAccessTokenOptions {
  /**
   * Whether the token belongs to another user. Needed only when the library cannot read issuer and subject from it.
   *
   * @default false
   */
  userChanged?: boolean
}

/** Options of `initialize()`. */
export interface AiAgentInitializeOptions extends OperationOptions {
  /** Initial context of the conversation, merged over `config.context`. */
  context?: Record<string, unknown>
  /**
   * Whether the user may be asked to sign in, in a popup or by leaving the page. With false, a call that needs it rejects with
   * an `AuthError`, reason `interaction_required`; call again with true within a click.
   *
   * @default true
   */
  interactive?: boolean
}
