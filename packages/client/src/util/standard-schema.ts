/**
 * What the library asks of a schema: the Standard Schema interface, which the protocol's schemas implement. So nothing
 * here depends on the schema library itself.
 */
export interface Schema<T> {
  readonly '~standard': { readonly validate: (value: unknown) => Result<T> | Promise<Result<T>> }
}

type Result<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string; readonly path?: ReadonlyArray<unknown> | undefined }> }

/** A value as its schema understands it, or what is wrong with it. */
export type Checked<T> = { ok: true; value: T } | { ok: false; problem: string }

/** Checks a value. Schemas that answer with a promise are not meant for the wire and never fit. */
export function check<T>(schema: Schema<T>, value: unknown): Checked<T> {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) return { ok: false, problem: 'the schema answers later' }
  if (!result.issues) return { ok: true, value: result.value }
  const issue = result.issues[0]
  const path = (issue?.path ?? []).map(part => (isKeyed(part) ? part.key : part)).join('.')
  return { ok: false, problem: path ? `${path}: ${issue?.message}` : String(issue?.message) }
}

/** Whether a value fits. */
export function fits(schema: Schema<unknown>, value: unknown): boolean {
  return check(schema, value).ok
}

function isKeyed(part: unknown): part is { key: unknown } {
  return typeof part === 'object' && part !== null && 'key' in part
}
