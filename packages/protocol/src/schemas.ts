/**
 * The shapes of the wire as valibot schemas, for programs that compose or describe them.
 *
 * They read exactly as the parse functions of the main entry, which need no library; property tests compare both.
 *
 * @module
 */
export {
  ClientMessageSchema,
  ContextAttributeSchema,
  ContextMessageSchema,
  ContextValidationIssueSchema,
  EscalationDataSchema,
  EscalationMessageSchema,
  FeedbackMessageSchema,
  GracefulDisconnectMessageSchema,
  PingMessageSchema,
  PongMessageSchema,
  ReceiptMessageSchema,
  RefusalMessageSchema,
  ResumedMessageSchema,
  ServerMessageDataSchema,
  ServerMessageSchema,
  SourceSchema,
  TokenMessageSchema,
  UserMessageSchema,
} from './schemas/chat.ts'
export { AccessTokenClaimsSchema, OAuthMetadataSchema, TokenResponseSchema } from './schemas/oauth.ts'
export {
  AgentDetailsSchema,
  AgentListSchema,
  CustomerListSchema,
  DeploymentInfoSchema,
  ErrorBodySchema,
  MaskingPatternsSchema,
  PortalDetailsListSchema,
  PortalListSchema,
  PreviousTranscriptSchema,
  SessionRequestSchema,
  SessionResponseSchema,
  UserListSchema,
  UserProfileListSchema,
} from './schemas/rest.ts'
