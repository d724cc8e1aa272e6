/** What a policy of a page with a chat has to name. */
export interface PolicyAddresses {
  /** Origins of the service, for REST calls and for the chat. */
  readonly connect: readonly string[]
  /** A nonce for the script tag. */
  readonly nonce: string
  /** Origin of the connector script. */
  readonly connector: string
  /** Directives for the rest of the page. @default [] */
  readonly page?: readonly string[]
}

/** The strictest content security policies under which the chat works. The documents show them, and the tests use them. */
export function strictPolicies({ connect, nonce, connector, page = [] }: PolicyAddresses): {
  readonly bundled: string
  readonly tagged: string
  readonly withConnector: string
} {
  const policy = (scripts: string, types: string) =>
    [
      "default-src 'none'",
      `script-src ${scripts}`,
      `connect-src ${connect.join(' ')}`,
      "require-trusted-types-for 'script'",
      `trusted-types ${types}`,
      ...page,
    ].join('; ')
  return {
    bundled: policy("'self'", "'none'"),
    tagged: policy(`'nonce-${nonce}' 'strict-dynamic'`, "'none'"),
    withConnector: policy(`'self' ${connector}`, 'aiagent-connector'),
  }
}
