/** Data from the wire that does not have the shape the protocol demands. The only error this package throws. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  /** The data as it was received or given, unchanged. */
  readonly data: unknown

  constructor(message: string, data: unknown, options?: ErrorOptions) {
    super(message, options)
    this.data = data
  }
}
