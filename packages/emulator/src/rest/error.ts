/** An error response of a route: a status, and the body `{ code, message }`. */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413
  /** `<status>-<nnn>` */
  readonly code: string

  constructor(status: RestError['status'], number: string, message: string) {
    super(message)
    this.status = status
    this.code = `${status}-${number}`
  }
}
