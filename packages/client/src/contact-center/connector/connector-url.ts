import { ConfigError } from '../../errors.ts'
import type { EnvironmentName } from '../../init-params.ts'

/** Where a platform's connector script is loaded from. */
export interface AiAgentConnectorConfig {
  /**
   * Address of the script, instead of the one built from a base and the platform's name.
   *
   * An address with a scheme allows its own origin. One without a scheme is resolved against the page's address, like a
   * link, and must then stay on an allowed origin. Outside a browser it is usually a `file:` address.
   */
  connectorUrl?: string
  /** Environment, if `initParams.env` is not set: `dev`, `qa`, `non-prod` or `prod`. @default 'prod' */
  environment?: string
  /** Base addresses of connectors, by environment; each allows its own origin. No base is built in. */
  baseUrls?: Partial<Record<EnvironmentName, string>>
  /** Additional origins from which a script may be loaded, such as `https://host`. @default [] */
  allowedOrigins?: readonly string[]
  /** Required hash of the script, as in a script tag: `sha384-…`. Only a browser can check it. */
  integrity?: string
  /** The nonce that the page's content security policy requires for scripts. */
  nonce?: string
}

export interface ConnectorScriptInput {
  /** `initParams.platform`, as given. */
  platform: string
  environment: EnvironmentName
  config: AiAgentConnectorConfig
  /** Address of the page; absent outside a browser. */
  pageUrl?: string | undefined
}

/** A script that may be loaded. */
export interface ConnectorScript {
  readonly url: string
  readonly integrity: string | undefined
  readonly nonce: string | undefined
}

/**
 * The script of a platform's connector.
 *
 * Init parameters often come from the page's address. So a platform can only name a folder below the base.
 *
 * @throws {ConfigError} naming the field that is missing, invalid, or not on an allowed origin
 */
export function resolveConnectorScript(input: ConnectorScriptInput): ConnectorScript {
  const { integrity, nonce } = input.config
  if (integrity !== undefined) requireIntegrity(integrity)
  const url = ownAddress(input) ?? platformAddress(input)
  return { url: url.href, integrity: integrity?.trim(), nonce }
}

/** The address that the host gave, if any. */
function ownAddress({ config, pageUrl }: ConnectorScriptInput): URL | undefined {
  const field = 'connector.connectorUrl'
  const given = config.connectorUrl?.trim()
  if (!given) return undefined
  const absolute = parse(given)
  const url = absolute ?? parse(given, pageUrl)
  if (!url)
    throw new ConfigError(
      field,
      `\`${field}\` is an invalid address. Give one with its scheme, as https://host/script.js.`,
    )
  requireScriptAddress(url, field, pageUrl)
  if (!absolute && !isAllowed(url, config, pageUrl))
    throw new ConfigError(
      field,
      `\`${field}\` is on ${url.origin}, which is not allowed. Give it with its scheme, or add the origin to \`connector.allowedOrigins\`.`,
    )
  return url
}

function platformAddress({ platform, environment, config, pageUrl }: ConnectorScriptInput): URL {
  const folder = platformFolder(platform)
  const given = config.baseUrls?.[environment]?.trim()
  if (!given)
    throw new ConfigError(
      'connector',
      `No connector is configured for the environment '${environment}'. Set \`connector.baseUrls\` for it, or \`connector.connectorUrl\`.`,
    )
  const field = `connector.baseUrls.${environment}`
  const base = parse(given)
  if (!base)
    throw new ConfigError(field, `\`${field}\` is an invalid address. Give one with its scheme, as https://host.`)
  requireScriptAddress(base, field, pageUrl)
  // After a query or a fragment, the folder would become part of it: any script of that host could be loaded.
  if (/[?#]/.test(given))
    throw new ConfigError(field, `\`${field}\` must be the start of an address: remove its query.`)
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/ai-agent-connector-${folder}/web/static/connector-ai-agent.js`
  return base
}

/** The folder name, from the platform. */
function platformFolder(platform: string): string {
  const name = platform.trim().toLowerCase()
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new ConfigError(
      'initParams.platform',
      '`initParams.platform` is an invalid platform name. It must be a letter, then letters, digits and hyphens.',
    )
  return name === 'test' ? 'standalone' : name
}

function requireScriptAddress(url: URL, field: string, pageUrl: string | undefined): void {
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  // A browser rejects a file address anyway; outside a browser it is the only scheme that Node can import.
  if (!isWeb && (pageUrl !== undefined || url.protocol !== 'file:'))
    throw new ConfigError(
      field,
      `\`${field}\` has the scheme '${url.protocol}', from which no script is loaded. Give an https: address, or outside a browser a file: address.`,
    )
  if (url.username || url.password)
    throw new ConfigError(
      field,
      `\`${field}\` contains a user name, which hides the actual host. Remove the user name.`,
    )
}

function isAllowed(
  url: URL,
  { baseUrls = {}, allowedOrigins = [] }: AiAgentConnectorConfig,
  pageUrl?: string,
): boolean {
  const named = [...Object.values(baseUrls), ...allowedOrigins, pageUrl]
  return named.some(address => address !== undefined && parse(address)?.origin === url.origin)
}

/** A browser ignores an invalid value, and runs the script unchecked. */
function requireIntegrity(integrity: string): void {
  const parts = integrity.trim().split(/\s+/)
  if (!parts.every(part => /^sha(?:256|384|512)-[a-z0-9+/_-]+={0,2}$/i.test(part)))
    throw new ConfigError(
      'connector.integrity',
      '`connector.integrity` must be a list of hashes as sha256-…, sha384-… or sha512-….',
    )
}

function parse(address: string, base?: string): URL | undefined {
  return URL.canParse(address, base) ? new URL(address, base) : undefined
}
