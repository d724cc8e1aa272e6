export { CHAT_QUERY, isUsableSessionId, MAX_FRAME_BYTES } from './chat/address.ts'
export {
  type ClientIntent,
  type ClientMessage,
  type ContextAttribute,
  type FeedbackRating,
  parseContextAttribute,
  readClientIntent,
} from './chat/client-message.ts'
export { CLIENT_DISCONNECT_REASON, CLOSE_CODE, isFinalCloseCode, isSessionRefusal } from './chat/close-code.ts'
export { parseClientMessage, parseServerMessage } from './chat/codec.ts'
export { encodeMessage, encodeText } from './chat/encode.ts'
export { resolveEntities } from './chat/entities.ts'
export { ERROR_CODES, SERVICE_ERROR_CODE } from './chat/error-code.ts'
export {
  addMessageId,
  CAPABILITY,
  type Capability,
  EXTENSION_ROLE,
  type ExtensionRole,
  type ExtensionSignal,
  encodePing,
  encodePong,
  encodeReceipt,
  encodeResumed,
  fencedReason,
  isSequenceNumber,
  readExtensionSignal,
  readFence,
  readFencedReason,
  readLastSeq,
} from './chat/extension.ts'
export { type LexedMarkdown, lexMarkdown, type MarkdownLexer, type MarkdownTokenizer } from './chat/lex-markdown.ts'
export { PERSONA, type Persona } from './chat/persona.ts'
export { ROLE, type Role } from './chat/role.ts'
export type {
  ContextValidationIssue,
  EscalationData,
  MessageData,
  ServerMessage,
  ServerMessageData,
  Source,
} from './chat/server-message.ts'
export { visibleText } from './chat/visible-text.ts'
export { allFields, isJsonObject, type OpenRecord } from './json-object.ts'
export { type AccessTokenClaims, parseAccessTokenClaims } from './oauth/claims.ts'
export {
  type ApiMetadata,
  type ApiPermissionPrefixes,
  type AuthenticationDetails,
  type IdpPolicies,
  type OAuthEndpoint,
  type OAuthMetadata,
  parseOAuthMetadata,
  TENANT_PLACEHOLDER,
} from './oauth/metadata.ts'
export { DEFAULT_SCOPES, SCOPE } from './oauth/scopes.ts'
export { ANONYMOUS_CLIENT, parseTokenResponse, type TokenResponse } from './oauth/token.ts'
export { ProtocolError } from './protocol-error.ts'
export type { Reader } from './reading.ts'
export {
  type AgentAuthDetails,
  type AgentDetails,
  type AgentListItem,
  type AgentProfileDetails,
  type PortalReference,
  parseAgentDetails,
  parseAgentList,
} from './rest/agent.ts'
export { agentDisplayName } from './rest/agent-name.ts'
export { type DeploymentInfo, parseDeploymentInfo } from './rest/deployment.ts'
export { DEPLOYMENT_INFO_PATH } from './rest/deployment-path.ts'
export { type ErrorBody, parseErrorBody } from './rest/error-body.ts'
export { type Id, isId, sameId } from './rest/id.ts'
export {
  type MaskingConfiguration,
  type MaskingPattern,
  type MaskingPatterns,
  parseMaskingPatterns,
} from './rest/masking.ts'
export { restBase, socketBase } from './rest/origin.ts'
export { paths, QUERY } from './rest/paths.ts'
export {
  type DefaultUserProfile,
  type PaginationInfo,
  PORTAL_PAGE_SIZE,
  type Portal,
  type PortalDepartment,
  type PortalDetails,
  type PortalDetailsList,
  type PortalList,
  type PortalSettings,
  parsePortalDetailsList,
  parsePortalList,
} from './rest/portal.ts'
export { parseUserProfileList, type UserProfile, type UserProfileList } from './rest/profile.ts'
export {
  parseSessionRequest,
  parseSessionResponse,
  SESSION_MIN_TOKEN_LIFE_SECONDS,
  type SessionRequest,
  type SessionResponse,
  TOKEN_WILL_EXPIRE_SOON,
} from './rest/session.ts'
export { type PreviousTranscript, parsePreviousTranscript } from './rest/transcript.ts'
export { type CustomerList, parseCustomerList, parseUserList, type UserDetails, type UserList } from './rest/user.ts'
