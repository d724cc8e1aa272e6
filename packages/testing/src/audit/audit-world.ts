import type { EmulatorOptions } from '@aiagent/emulator'
import type { MaskingPattern } from '@aiagent/protocol'
import type { Canaries } from './canary.ts'

/** Id of the agent that an audit talks to. It is for signed-in users, and its department masks messages. */
export const AUDIT_AGENT_ID = 'privacy-audit'

const DEPARTMENT = 7001

/** Rules for the values that an audit plants in messages. */
const PATTERNS: readonly MaskingPattern[] = [
  makePattern('E-mail address', String.raw`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`),
  makePattern('Token', String.raw`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`),
  makePattern('Session id', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'),
  { ...makePattern('Payment card', String.raw`(?:\d[ -]?){12,18}\d`), applyLuhnAlgorithm: true },
].map((pattern, index) => ({ ...pattern, order: index + 1 }))

/** Options of an audit that concern the service. */
export interface AuditServiceOptions {
  /** Masking rules of the agent's department, such as those of the real deployment. @default rules for all planted values */
  maskingPatterns?: readonly MaskingPattern[]
  /** Further options of the emulator. Its world and its answers are the audit's. */
  emulator?: Omit<EmulatorOptions, 'world' | 'reply'>
}

/** The service of an audit: an agent with masking, whose answers contain an address, and a user with one. */
export function createAuditWorld(
  canaries: Canaries,
  { maskingPatterns = PATTERNS, emulator }: AuditServiceOptions,
): EmulatorOptions {
  const address = canaries.valueOf('address', 'token')
  return {
    ...emulator,
    reply: ({ text }) => ({
      content: `The branch answers at ${canaries.valueOf('address', 'answer')} (${text.length} characters).`,
    }),
    world: {
      agents: [
        {
          details: {
            agentId: AUDIT_AGENT_ID,
            name: 'Privacy audit',
            agentProfileDetails: { name: 'Privacy audit' },
            isAuthenticated: true,
            userType: 'customer',
            departmentId: DEPARTMENT,
            languageCode: 'en-us',
            enableDataMasking: true,
          },
        },
      ],
      departments: [
        {
          id: DEPARTMENT,
          name: 'Privacy audit',
          maskingPatterns: { chat: { patterns: [...maskingPatterns] } },
        },
      ],
      // The subject of the tokens, too, so that the claims of a token contain the address.
      users: [{ id: address, userType: 'customer', name: 'Customer', email: address }],
    },
  }
}

function makePattern(name: string, javascriptRegularExpression: string): MaskingPattern {
  return {
    name,
    description: name,
    order: 0,
    javascriptRegularExpression,
    numOfCharsToUnmaskFromLeft: 0,
    numOfCharsToUnmaskFromRight: 0,
    applyLuhnAlgorithm: false,
    maskingCharacter: '*',
  }
}
