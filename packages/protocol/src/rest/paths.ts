import { DEPLOYMENT_INFO_PATH } from './deployment-path.ts'
import type { Id } from './id.ts'

const AI_SERVICES = '/core/aiservices/v4/aiagent'
const PORTAL_MANAGER = '/knowledge/portalmgr/v3'
const METADATA = '/core/authmgr/v3/metadata'

/**
 * A path parameter, percent-encoded so that it stays one segment. A colon may stand in a segment and stays, for every id
 * alike, so `:agentId` gives a route pattern. Half of a surrogate pair, which cannot be encoded, becomes U+FFFD. `.` and
 * `..` mean folders even when encoded, so they are encoded twice and name a record that does not exist.
 */
const part = (value: Id): string => {
  const text = encodeURIComponent(String(value).replace(/\p{Surrogate}/gu, '\uFFFD')).replaceAll('%3A', ':')
  return text === '.' || text === '..' ? text.replaceAll('.', '%252E') : text
}

/** Every REST path of the service. Called with `:name` for each parameter they are the server's route patterns. */
export const paths = {
  deploymentInfo: () => DEPLOYMENT_INFO_PATH,
  agentDetails: (agentId: Id) => `${AI_SERVICES}/details/agent/${part(agentId)}`,
  session: (agentId: Id) => `${AI_SERVICES}/chat/agent/${part(agentId)}/session`,
  portals: () => `${PORTAL_MANAGER}/portals`,
  myPortals: () => `${PORTAL_MANAGER}/myportals`,
  portalDetails: (portalId: Id) => `${PORTAL_MANAGER}/internal/portals/${part(portalId)}`,
  agentsByPortal: (departmentId: Id, portalId: Id) =>
    `${AI_SERVICES}/details/department/${part(departmentId)}/portal/${part(portalId)}`,
  userProfiles: (portalId: Id) => `${PORTAL_MANAGER}/portals/${part(portalId)}/userprofiles`,
  selectUserProfile: (portalId: Id, profileId: Id) =>
    `${PORTAL_MANAGER}/portals/${part(portalId)}/userprofiles/${part(profileId)}/select`,
  userDetails: () => `${PORTAL_MANAGER}/portals/user`,
  customerDetails: () => '/core/customermgr/v3/internal/customer',
  maskingPatterns: (departmentId: Id, channel: string) =>
    `/core/securitymgr/v4/departments/${part(departmentId)}/maskingpatterns/${part(channel)}`,
  connectedApps: (tenantId: Id, agentId: Id) =>
    `/ai-agent-cc-connector/v1/tenants/${part(tenantId)}/agents/${part(agentId)}/apps`,
  /** The department is a required but ignored part of the path; 1000 is the constant in use. */
  previousTranscript: (agentId: Id, sessionId: Id, departmentId: Id = 1000) =>
    `${AI_SERVICES}/details/department/${part(departmentId)}/agent/${part(agentId)}/conversations/sessions/${part(sessionId)}`,
  metadataOfDeployment: () => `${METADATA}/deployment`,
  metadataOfTenant: (tenantId: Id) => `${METADATA}/tenant/${part(tenantId)}`,
} as const

/** Names of the query parameters of the REST calls. */
export const QUERY = {
  LANGUAGE: '$lang',
  PAGE_SIZE: '$pagesize',
  PAGE_NUMBER: '$pagenum',
  ATTRIBUTE: '$attribute',
  DEPARTMENT_ID: 'departmentId',
  SHORT_URL_TEMPLATE: 'shortUrlTemplate',
  AGENT_TYPE: 'agentType',
} as const
