import { ConfigError } from '../../errors.ts'
import { type EnvironmentName, toEnvironmentName } from '../../init-params.ts'

/** Where a platform's connector script comes from. */
export interface AiAgentConnectorConfig {
  /**
   * Address of the script, instead of the one made of a base and the platform's name.
   *
   * One with a scheme allows its own origin. One without is read from the page's address, as a link in the page would
   * be, and must then stay on an origin that is allowed. Outside a browser it is a `file:` address as a rule.
   */
  connectorUrl?: string
  /** Environment where `initParams.env` names none: `dev`, `qa`, `non-prod` or `prod`. @default 'prod' */
  environment?: string
  /** Where connectors are published, by environment; each allows its own origin. No base is built in. */
  baseUrls?: Partial<Record<EnvironmentName, string>>
  /** Further origins that a script may come from, as `https://host`. @default [] */
  allowedOrigins?: readonly string[]
  /** What the script must hash to, as in a script tag: `sha384-…`. Only a browser can check it. */
  integrity?: string
  /** The nonce that the page's content security policy asks of scripts. */
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

/** The environment of a connector: what the init parameters say, else the host's label; a word that names none is `prod`. */
export function connectorEnvironment(
  fromInitParams: EnvironmentName | undefined,
  label: string | undefined,
): EnvironmentName {
  return fromInitParams ?? toEnvironmentName(label)
}

/**
 * The script of a platform's connector.
 *
 * Init parameters often come from the page's address, so a platform can name a folder below the base and nothing else.
 *
 * @throws {ConfigError} naming the field that is missing, cannot be used, or leads where no script may come from
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
    throw new ConfigError(field, `\`${field}\` is no address. Give one with its scheme, as https://host/script.js.`)
  requireScriptAddress(url, field, pageUrl)
  if (!absolute && !isAllowed(url, config, pageUrl))
    throw new ConfigError(
      field,
      `\`${field}\` leads to ${url.origin}, which is not allowed. Give it with its scheme, or add the origin to \`connector.allowedOrigins\`.`,
    )
  return url
}

function platformAddress({ platform, environment, config, pageUrl }: ConnectorScriptInput): URL {
  const folder = platformFolder(platform)
  const given = config.baseUrls?.[environment]?.trim()
  if (!given)
    throw new ConfigError(
      'connector',
      `There is no connector for the platform in the environment '${environment}'. Set \`connector.baseUrls\` for it, or \`connector.connectorUrl\`.`,
    )
  const field = `connector.baseUrls.${environment}`
  const base = parse(given)
  if (!base) throw new ConfigError(field, `\`${field}\` is no address. Give one with its scheme, as https://host.`)
  requireScriptAddress(base, field, pageUrl)
  // Behind a query or a fragment the folder would be a part of it, and the script any script of that host.
  if (/[?#]/.test(given)) throw new ConfigError(field, `\`${field}\` is the start of addresses: leave out its query.`)
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/ai-agent-connector-${folder}/web/static/connector-ai-agent.js`
  return base
}

/** The part of the folder's name that the platform gives. */
function platformFolder(platform: string): string {
  const name = platform.trim().toLowerCase()
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new ConfigError(
      'initParams.platform',
      '`initParams.platform` is no name of a platform: a letter, then letters, digits and hyphens.',
    )
  return name === 'test' ? 'standalone' : name
}

function requireScriptAddress(url: URL, field: string, pageUrl: string | undefined): void {
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  // A page's policy would keep a file out anyway; elsewhere it is the one kind that Node can import.
  if (!isWeb && (pageUrl !== undefined || url.protocol !== 'file:'))
    throw new ConfigError(
      field,
      `\`${field}\` has the scheme '${url.protocol}', which no script is loaded from. Give an https: address, or outside a browser a file: address.`,
    )
  if (url.username || url.password)
    throw new ConfigError(field, `\`${field}\` names a user, which hides the host it leads to. Leave the user out.`)
}

function isAllowed(
  url: URL,
  { baseUrls = {}, allowedOrigins = [] }: AiAgentConnectorConfig,
  pageUrl?: string,
): boolean {
  const named = [...Object.values(baseUrls), ...allowedOrigins, pageUrl]
  return named.some(address => address !== undefined && parse(address)?.origin === url.origin)
}

/** A browser skips what it does not understand here, and runs the script unchecked. */
function requireIntegrity(integrity: string): void {
  const parts = integrity.trim().split(/\s+/)
  if (!parts.every(part => /^sha(?:256|384|512)-[a-z0-9+/_-]+={0,2}$/i.test(part)))
    throw new ConfigError(
      'connector.integrity',
      '`connector.integrity` is no list of hashes as sha256-…, sha384-… or sha512-….',
    )
}

function parse(address: string, base?: string): URL | undefined {
  return URL.canParse(address, base) ? new URL(address, base) : undefined
}
