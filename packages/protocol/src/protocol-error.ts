/** Data from the wire that does not have the shape the protocol demands. The only error this package throws. */
export class ProtocolError extends Error {
  /** Name of the class, for logs. */
  override readonly name = 'ProtocolError'
  readonly #data: unknown

  constructor(message: string, data: unknown, options?: ErrorOptions) {
    super(message, options)
    this.#data = data
  }

  /** The data as it was received or given, unchanged. Not printed with the error: it may be a part of a conversation. */
  get data(): unknown {
    return this.#data
  }
}
