import type { GenericSchema, InferOutput } from 'valibot'
import { assertType, describe, it } from 'vitest'
import type * as protocol from './index.ts'
import * as schemas from './schemas.ts'

/** A value as JSON gives it: no field is there with the value `undefined`. */
type Json<T> = T extends (infer Element)[]
  ? Json<Element>[]
  : T extends object
    ? { [Name in keyof T]: Json<Exclude<T[Name], undefined>> }
    : T
declare function read<Schema extends GenericSchema>(schema: Schema): Json<InferOutput<Schema>>

describe('schemas', () => {
  it('read the types of the main entry', () => {
    assertType<protocol.ServerMessage>(read(schemas.ServerMessageSchema))
    assertType<protocol.ServerMessageData>(read(schemas.ServerMessageDataSchema))
    assertType<protocol.Source>(read(schemas.SourceSchema))
    assertType<protocol.EscalationData>(read(schemas.EscalationDataSchema))
    assertType<protocol.ClientMessage>(read(schemas.ClientMessageSchema))
    assertType<protocol.ContextAttribute>(read(schemas.ContextAttributeSchema))
    assertType<protocol.AgentDetails>(read(schemas.AgentDetailsSchema))
    assertType<protocol.AgentListItem[]>(read(schemas.AgentListSchema))
    assertType<protocol.DeploymentInfo>(read(schemas.DeploymentInfoSchema))
    assertType<protocol.ErrorBody>(read(schemas.ErrorBodySchema))
    assertType<protocol.MaskingPatterns>(read(schemas.MaskingPatternsSchema))
    assertType<protocol.PortalList>(read(schemas.PortalListSchema))
    assertType<protocol.PortalDetailsList>(read(schemas.PortalDetailsListSchema))
    assertType<protocol.UserProfileList>(read(schemas.UserProfileListSchema))
    assertType<protocol.SessionRequest>(read(schemas.SessionRequestSchema))
    assertType<protocol.SessionResponse>(read(schemas.SessionResponseSchema))
    assertType<protocol.PreviousTranscript>(read(schemas.PreviousTranscriptSchema))
    assertType<protocol.UserList>(read(schemas.UserListSchema))
    assertType<protocol.CustomerList>(read(schemas.CustomerListSchema))
    assertType<protocol.AccessTokenClaims>(read(schemas.AccessTokenClaimsSchema))
    assertType<protocol.OAuthMetadata>(read(schemas.OAuthMetadataSchema))
    assertType<protocol.TokenResponse>(read(schemas.TokenResponseSchema))
  })
})
