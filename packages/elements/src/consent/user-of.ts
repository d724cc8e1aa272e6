/** The user whom a token names, by its issuer and subject; a value that names none stands for itself. */
export function userOf(value: unknown): unknown {
  try {
    const claims = String(value).split('.')[1] ?? ''
    const { iss, sub, oid } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')))
    return sub || oid ? JSON.stringify([iss, sub || oid]) : value
  } catch {
    return value
  }
}
