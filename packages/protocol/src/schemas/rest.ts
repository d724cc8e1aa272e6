import * as v from 'valibot'
import { isUsableSessionId } from '../chat/address.ts'
import { flag, jsonObject, listOf, openObject, text } from './json-object.ts'

const IdSchema = v.union([v.string(), v.pipe(v.number(), v.safeInteger())])
const id = v.nullish(IdSchema)

/** Schema of `AgentDetails`. */
export const AgentDetailsSchema = jsonObject({
  agentId: id,
  name: text,
  agentProfileDetails: v.nullish(jsonObject({ name: text })),
  agentType: text,
  isAuthenticated: flag,
  userType: text,
  portals: v.nullish(listOf(v.union([IdSchema, jsonObject({ id: IdSchema })]))),
  departmentId: id,
  languageCode: text,
  enableDataMasking: flag,
  webSocketDomain: text,
  extraScopes: v.nullish(v.union([listOf(v.string()), v.string()])),
  clientAppId: text,
})

/** Schema of the agents of a portal. */
export const AgentListSchema = listOf(jsonObject({ agentId: IdSchema, name: text, description: text }))

/** Schema of `DeploymentInfo`. */
export const DeploymentInfoSchema = jsonObject({
  apiDomain: v.pipe(v.string(), v.nonEmpty()),
  aiAgentDomain: text,
  tenantId: text,
  tenant_identifier: text,
  intClientId: text,
  extClientId: text,
  clientId: text,
  domainHint: text,
  version: text,
  capabilities: v.fallback(v.nullish(listOf(v.string())), undefined),
})

/** Schema of `ErrorBody`. */
export const ErrorBodySchema = jsonObject({ code: v.string(), message: v.string() })

const odd = <const S extends v.GenericSchema>(schema: S) => v.fallback(schema, undefined as never)

/** Schema of `MaskingPatterns`. */
export const MaskingPatternsSchema = jsonObject({
  patterns: v.nullish(
    listOf(
      // An element that is not an object is a rule without fields, so that the client refuses and reports it.
      v.fallback(
        jsonObject({
          name: odd(text),
          description: odd(text),
          order: odd(v.nullish(v.number())),
          javascriptRegularExpression: odd(text),
          numOfCharsToUnmaskFromLeft: odd(v.nullish(v.number())),
          numOfCharsToUnmaskFromRight: odd(v.nullish(v.number())),
          applyLuhnAlgorithm: odd(flag),
          maskingCharacter: odd(text),
        }),
        {} as never,
      ),
    ),
  ),
  configuration: v.nullish(jsonObject({ htmlTagMatcherRegEx: text })),
})

/** Schema of `PortalList`. */
export const PortalListSchema = jsonObject({
  portal: v.nullish(
    listOf(
      jsonObject({
        id: IdSchema,
        name: text,
        description: text,
        department: v.nullish(jsonObject({ id, name: text })),
      }),
    ),
  ),
  paginationInfo: v.nullish(jsonObject({ count: v.number(), pagesize: v.number(), pagenum: v.nullish(v.number()) })),
})

/** Schema of `PortalDetailsList`. */
export const PortalDetailsListSchema = jsonObject({
  portal: v.nullish(
    listOf(
      jsonObject({
        name: text,
        departmentId: id,
        portalSettings: v.nullish(jsonObject({ defaultUserProfile: v.nullish(jsonObject({ id, name: text })) })),
      }),
    ),
  ),
})

/** Schema of `UserProfileList`. */
export const UserProfileListSchema = jsonObject({
  profile: v.nullish(listOf(jsonObject({ id: IdSchema, name: text, isLastUsedInPortal: flag }))),
})

/** Schema of `SessionRequest`. */
export const SessionRequestSchema = jsonObject({ context: v.optional(openObject) })

/** Schema of `SessionResponse`. */
export const SessionResponseSchema = jsonObject({
  sessionId: v.pipe(
    v.union([v.string(), v.number()], 'a session id is text or a safe integer'),
    v.check(
      sessionId => isUsableSessionId(sessionId),
      'the session id is blank, a placeholder, or a number beyond the safe integers',
    ),
    v.transform(sessionId => String(sessionId).trim()),
  ),
})

/** Schema of `PreviousTranscript`. */
export const PreviousTranscriptSchema = jsonObject({ messages: v.nullish(v.array(v.unknown())) })

const user = jsonObject({ id, name: text, email: text })

/** Schema of `UserList`. */
export const UserListSchema = jsonObject({ user: v.nullish(listOf(user)) })

/** Schema of `CustomerList`. */
export const CustomerListSchema = jsonObject({ customer: v.nullish(listOf(user)) })
