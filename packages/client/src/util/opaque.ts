/**
 * An object with private members, which a proxy does not have. Vue's `reactive()` leaves alone all but plain objects, and knows those
 * by this name. A base class, since minifiers keep every class with a computed key, also an unused one.
 */
export abstract class Opaque {
  get [Symbol.toStringTag](): string {
    return 'AiAgentSdk'
  }
}
