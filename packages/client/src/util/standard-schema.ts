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

/** A value as its schema understands it; undefined where it does not fit. */
export function readWith<T>(schema: Schema<T>, value: unknown): T | undefined {
  const checked = check(schema, value)
  return checked.ok ? checked.value : undefined
}

/** The schema of what stands under a name in records of another schema. */
export function memberOf<T, Name extends string & keyof T>(schema: Schema<T>, name: Name): Schema<T[Name]> {
  return {
    '~standard': {
      validate(value) {
        const checked = check(schema, { [name]: value })
        return checked.ok ? { value: checked.value[name] } : { issues: [{ message: checked.problem }] }
      },
    },
  }
}

function isKeyed(part: unknown): part is { key: unknown } {
  return typeof part === 'object' && part !== null && 'key' in part
}
