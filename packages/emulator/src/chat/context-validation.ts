import type { ContextValidationIssue } from '@aiagent/protocol'
import type { ContextAttributeSeed } from '../world/seed.ts'

/** Result of the validation of a context. */
export interface ContextVerdict {
  /** The accepted attributes, unchanged. */
  accepted: Record<string, unknown>
  /** One for each dropped attribute. */
  issues: ContextValidationIssue[]
}

export interface ContextRules {
  /** The only allowed attributes; all are allowed if absent. */
  attributes?: Readonly<Record<string, ContextAttributeSeed>> | undefined
  /** Maximum length of a value in characters, for attributes without a limit. */
  valueLimit: number
}

const FITS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: value => typeof value === 'string',
  integer: value => Number.isInteger(value),
  number: value => typeof value === 'number',
  boolean: value => typeof value === 'boolean',
  object: isRecord,
}

/**
 * Validates each attribute separately: an invalid one is dropped and reported, the others stay.
 *
 * An attribute is a plain value, or an object with a `value` and an optional `type`. An unknown type matches no value,
 * so it is a mismatch as well.
 */
export function validateContext(context: Readonly<Record<string, unknown>>, rules: ContextRules): ContextVerdict {
  const verdict: ContextVerdict = { accepted: {}, issues: [] }
  for (const [name, attribute] of Object.entries(context)) {
    const issue = findIssue(name, attribute, rules)
    if (issue) verdict.issues.push(issue)
    // Defined rather than assigned, so that an attribute named __proto__ is an ordinary attribute.
    else Object.defineProperty(verdict.accepted, name, { value: attribute, ...OWN_PROPERTY })
  }
  return verdict
}

const OWN_PROPERTY = { enumerable: true, configurable: true, writable: true } as const

function findIssue(name: string, attribute: unknown, rules: ContextRules): ContextValidationIssue | undefined {
  const known = rules.attributes && (Object.hasOwn(rules.attributes, name) ? rules.attributes[name] : undefined)
  if (rules.attributes && !known) return { name, reason: 'unknown_attribute' }

  const described = isRecord(attribute) && Object.hasOwn(attribute, 'value')
  const value = described ? attribute.value : attribute
  const type = described && attribute.type !== undefined ? attribute.type : known?.type
  if (type !== undefined && !fits(type, value)) {
    const expectedType = typeof type === 'string' ? type : typeName(type)
    return { name, reason: 'type_mismatch', expectedType, providedType: typeName(value) }
  }

  if (length(value) > (known?.maxLength ?? rules.valueLimit)) return { name, reason: 'value_too_long' }
  return undefined
}

function fits(type: unknown, value: unknown): boolean {
  return typeof type === 'string' && Object.hasOwn(FITS, type) && FITS[type]?.(value) === true
}

function length(value: unknown): number {
  if (typeof value === 'string') return value.length
  try {
    return JSON.stringify(value)?.length ?? 0
  } catch {
    // Nested deeper than the engine's stack allows.
    return Number.POSITIVE_INFINITY
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (Number.isInteger(value)) return 'integer'
  return typeof value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
