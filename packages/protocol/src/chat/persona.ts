/** Who speaks in a frame. Unknown values are ignored, never fatal. */
export const PERSONA = {
  METADATA: 'metadata',
  SYSTEM: 'system',
  AGENT: 'agent',
  CUSTOMER: 'customer',
} as const

/** A known persona, as it stands on the wire. */
export type Persona = (typeof PERSONA)[keyof typeof PERSONA]
