import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from '../protocol-error.ts'
import { ClientMessageSchema, ServerMessageSchema } from '../schemas.ts'
import { parseClientMessage, parseServerMessage } from './codec.ts'
import { encodeMessage, encodeText } from './encode.ts'

/** Members as text, so that `__proto__`, members given twice and numbers beyond a double can stand in it. */
type Member = readonly [name: string, json: string]

const objectText = (members: readonly Member[]) =>
  `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`

const anyJson = fc.oneof(
  { weight: 6, arbitrary: fc.json({ maxDepth: 3 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'null',
      '""',
      '0',
      '-0',
      '1e999',
      '-1e999',
      '[]',
      '{}',
      'true',
      '"NaN"',
      '[null]',
      '{"__proto__":null}',
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 400 }).map(depth => '['.repeat(depth) + ']'.repeat(depth)) },
)
const text = fc.string().map(value => JSON.stringify(value))
const name = fc.string({ minLength: 1 }).map(value => JSON.stringify(value))
const flag = fc.constantFrom('true', 'false')
const number = fc.double({ noNaN: true }).map(value => (Number.isFinite(value) ? JSON.stringify(value) : '1e999'))
const listOf = (item: fc.Arbitrary<string>) => fc.array(item, { maxLength: 4 }).map(items => `[${items.join(',')}]`)

const strayMember: fc.Arbitrary<Member> = fc.tuple(
  fc.oneof(
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'role', 'content'),
  ),
  anyJson,
)

/** An object in which each known member may be absent, right, null or anything at all, among members nobody knows. */
function objectOf(known: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<string> {
  const members = Object.entries(known).map(([member, right]) =>
    fc.option(
      fc
        .oneof(
          { weight: 5, arbitrary: right },
          { weight: 1, arbitrary: fc.constant('null') },
          { weight: 2, arbitrary: anyJson },
        )
        .map((json): Member => [member, json]),
    ),
  )
  return fc
    .tuple(fc.tuple(...members), fc.array(strayMember, { maxLength: 3 }))
    .map(([chosen, stray]) => objectText([...chosen.filter(member => member !== null), ...stray]))
}

const issue = objectOf({ name: text, reason: text, expectedType: text, providedType: text })
const escalationData = objectOf({
  live: flag,
  liveDomain: text,
  entrypointUrl: text,
  phone: flag,
  phoneNumber: text,
  sms: flag,
  smsNumber: text,
  email: flag,
})
const messageData = objectOf({
  error_code: fc.oneof(text, number),
  contextValidationErrors: listOf(issue),
  chat_history: listOf(anyJson),
  options: listOf(fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: anyJson })),
  escalation: flag,
  escalationData,
  sources: listOf(anyJson),
  reasoning: text,
  workflowType: text,
  workflowNodeType: text,
  inputType: text,
})
const serverFrame = objectOf({
  messageId: text,
  persona: name,
  role: name,
  content: text,
  messageData,
  timestamp: number,
  seq: fc.oneof(number, fc.nat().map(String), fc.constantFrom('-1', '1.5', '9007199254740993')),
})
const clientFrame = objectOf({
  persona: name,
  role: name,
  content: text,
  messageData: objectOf({ context: anyJson, token: text, feedback: anyJson }),
  messageId: text,
})
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), anyJson, serverFrame, clientFrame)

/** The result as text that shows every member but those whose value is undefined, whatever their order. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    return `{${members.map(([member, inner]) => `${JSON.stringify(member)}:${canonical(inner)}`).join(',')}}`
  }
  return Object.is(value, -0) ? '-0' : typeof value === 'number' ? String(value) : JSON.stringify(value)
}

type Outcome = { read: string } | 'refused'

const outcomeOf = (parse: (data: unknown) => unknown, data: unknown): Outcome => {
  try {
    return { read: canonical(parse(data)) }
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError)
    return 'refused'
  }
}
const outcomeOfSchema = (schema: v.GenericSchema, json: string): Outcome => {
  const result = v.safeParse(schema, JSON.parse(json))
  return result.success ? { read: canonical(result.output) } : 'refused'
}

const runs = { numRuns: 1_000 }

describe('guards and schema', () => {
  it('[WS-04] agree on every frame of the service', () => {
    fc.assert(
      fc.property(serverFrame, json => {
        expect(outcomeOf(parseServerMessage, json)).toEqual(outcomeOfSchema(ServerMessageSchema, json))
      }),
      runs,
    )
  })

  it('agree on frames that are nothing but JSON', () => {
    fc.assert(
      fc.property(anyJson, json => {
        expect(outcomeOf(parseServerMessage, json)).toEqual(outcomeOfSchema(ServerMessageSchema, json))
      }),
      runs,
    )
  })

  it('[WS-04] agree on every frame of a client', () => {
    fc.assert(
      fc.property(clientFrame, json => {
        expect(outcomeOf(parseClientMessage, json)).toEqual(outcomeOfSchema(ClientMessageSchema, json))
      }),
      runs,
    )
  })

  it('meet frames that are read and frames that are refused', () => {
    const seen = fc.sample(serverFrame, { numRuns: 500, seed: 7 }).map(json => outcomeOf(parseServerMessage, json))
    const refused = seen.filter(outcome => outcome === 'refused').length
    expect(refused).toBeGreaterThan(50)
    expect(refused).toBeLessThan(450)
  })
})

describe('the codec', () => {
  it('[WS-04] throws nothing but ProtocolError, whatever arrives', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.anything(), fc.uint8Array()), data => {
        outcomeOf(parseServerMessage, data)
        outcomeOf(parseClientMessage, data)
      }),
      runs,
    )
  })

  it('writes with nothing but ProtocolError, whatever the host puts into a message', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withNullPrototype: true })), data => {
        outcomeOf(() => encodeMessage({ persona: 'customer', role: 'human', messageData: data }), undefined)
      }),
      runs,
    )
  })

  it('[WS-04] reads back what it wrote, in both directions', () => {
    const message = fc.record(
      {
        persona: fc.string({ minLength: 1 }),
        role: fc.string({ minLength: 1 }),
        content: fc.string({ unit: 'binary' }),
        messageData: fc.dictionary(
          fc.string().map(key => `x-${key}`),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: ['persona', 'role'] },
    )
    fc.assert(
      fc.property(message, sent => {
        const onTheWire = encodeMessage(sent)
        const expected = canonical(JSON.parse(JSON.stringify(sent)))
        expect(canonical(parseClientMessage(onTheWire))).toBe(expected)
        expect(canonical(parseServerMessage(onTheWire))).toBe(expected)
      }),
      runs,
    )
  })

  it('[WS-04] writes a content alone as it writes every message', () => {
    const word = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('', 'customer', 'system'), word, word)), all => {
        for (const [persona, role, content] of all)
          expect(encodeText(persona, role, content)).toBe(encodeMessage({ persona, role, content }))
      }),
      runs,
    )
  })

  it('reads its own reading unchanged', () => {
    fc.assert(
      fc.property(serverFrame, json => {
        const first = outcomeOf(data => encodeMessage(parseServerMessage(data)), json)
        if (first === 'refused') return
        const written = encodeMessage(parseServerMessage(json))
        expect(encodeMessage(parseServerMessage(written))).toBe(written)
      }),
      runs,
    )
  })
})
