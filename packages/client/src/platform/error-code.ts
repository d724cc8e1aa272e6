/**
 * Explains a failed request or handshake on Node by the code of its error, as the rest of a sentence. Nothing of the address but its
 * host is in it.
 *
 * @param cause the error of `fetch`, or of a socket
 */
export function explainCode({ protocol, host, hostname }: URL, cause: unknown): string {
  const code = codeOf(cause)
  const isSocket = protocol.startsWith('ws')
  const isSecure = protocol === 'https:' || protocol === 'wss:'
  const [plain, secure] = isSocket ? ['ws', 'wss'] : ['http', 'https']
  if (code === 'ECONNREFUSED') return `nothing listens on ${host}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name ${hostname} is unknown`
  if (isSecure && /WRONG_VERSION|PACKET_LENGTH|EPROTO/.test(code)) return `${host} speaks ${plain}, not ${secure}`
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) return `its TLS certificate is not trusted (${code})`
  if (!isSecure && /UND_ERR_SOCKET|ECONNRESET/.test(code))
    return `${host} closed the connection; it may expect ${secure}`
  if (code.startsWith('HPE_'))
    return `${host} did not answer in HTTP (${code})${isSecure ? '' : `; it may expect ${secure}`}`
  if (code) return `the connection failed (${code})`
  if (!(cause instanceof Error)) return ''
  if (isSocket) return `${host} is not a chat service (${cause.message})`
  // Such as "bad port": the platform sends no request to some ports. It says nothing of a proxy that asks for a sign-in.
  const { cause: inner } = cause
  return inner instanceof Error
    ? `the request failed (${inner.message || 'HTTP 407: a proxy may require a sign-in'})`
    : ''
}

/** Explains an HTTP status that refuses a handshake, as the rest of a sentence; empty where the service may have sent it. */
export function explainStatus(status: number | undefined): string {
  if (status === 407 || status === 511) return 'a proxy or network on the way requires a sign-in'
  return Number(status) < 400 ? 'not a chat service: a proxy or the sign-in page of a network may have answered' : ''
}

/** The error code in the nested causes of an error of Node. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown }
  if (typeof code === 'string') return code
  return codeOf(cause) || codeOf(Array.isArray(errors) ? errors[0] : undefined)
}
