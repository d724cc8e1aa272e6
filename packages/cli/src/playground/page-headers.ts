/** The service that a playground is served for. */
export interface PlaygroundService {
  /** Address of the service. */
  readonly endpoint: string
  /** Whether it is an emulator, which the page can control. */
  readonly isEmulator: boolean
  /** Agent to talk to at a deployment. */
  readonly agentId?: string
  /** Name of the emulator's chat host. @default a name below `localhost` */
  readonly chatHost?: string
}

/** Headers of every answer of the playground's server. */
export function pageHeaders(service: PlaygroundService): Record<string, string> {
  const { origin } = new URL(service.endpoint)
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self'",
    'connect-src': `'self' ${connections(service)}`,
    // A login is renewed in a hidden frame of the provider.
    'frame-src': `'self' ${service.isEmulator ? origin : 'https:'}`,
    'frame-ancestors': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
  }
  return {
    'Content-Security-Policy': Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    // A login opens a window of the provider, which answers.
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
}

/** Where the page may connect to: the emulator, or any encrypted address for a deployment, which names its own. */
function connections({ endpoint, isEmulator, chatHost }: PlaygroundService): string {
  const { protocol, host, port, origin } = new URL(endpoint)
  const socket = protocol === 'https:' ? 'wss:' : 'ws:'
  const own = [origin, `${socket}//${host}`]
  if (!isEmulator) return protocol === 'https:' ? 'https: wss:' : [...own, 'https: wss:'].join(' ')
  const suffix = port && `:${port}`
  return [...own, `${socket}//*.localhost${suffix}`, ...(chatHost ? [`${socket}//${chatHost}${suffix}`] : [])].join(' ')
}
