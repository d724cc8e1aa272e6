import { parseMaskingPatterns } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { MASKING_RULES } from './masking-rules.ts'

const patterns = MASKING_RULES.patterns ?? []

/** The names of the rules that find something in a text, and what. */
function findAll(text: string): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const { name, javascriptRegularExpression } of patterns) {
    const matches = text.match(new RegExp(String(javascriptRegularExpression), 'g'))
    if (matches) found[String(name)] = matches
  }
  return found
}

/** A text in which each rule finds its own kind of thing. */
const EXAMPLES: Record<string, [text: string, secret: string]> = {
  'E-mail address': ['write to first.last@mail.example.org please', 'first.last@mail.example.org'],
  Password: ['my password is Hunter2!', 'Hunter2!'],
  IBAN: ['from DE89 3704 0044 0532 0130 00 today', 'DE89 3704 0044 0532 0130 00'],
  'Payment card': ['card 4111 1111 1111 1111, thanks', '4111 1111 1111 1111'],
  'Charge card': ['card 3782 822463 10005.', '3782 822463 10005'],
  'Card security code': ['CVV: 123', '123'],
  'Card expiry': ['expires 04/2029', '04/2029'],
  'Social security number': ['it is 123-45-6789', '123-45-6789'],
  'Taxpayer number': ['it is 912-73-4567', '912-73-4567'],
  'National insurance number': ['it is AB 12 34 56 C', 'AB 12 34 56 C'],
  'Bank routing number': ['routing number: 021000021', '021000021'],
  'Account number': ['account no. 000123456789', '000123456789'],
  'Passport number': ['passport C01234567', 'C01234567'],
  'Driving licence': ['licence B123-4567-8901', 'B123-4567-8901'],
  'Date of birth': ['born on 24.12.1980', '24.12.1980'],
  'MAC address': ['device 00:1A:2B:3C:4D:5E', '00:1A:2B:3C:4D:5E'],
  'IPv6 address': ['at 2001:db8:0:0:0:0:0:1', '2001:db8:0:0:0:0:0:1'],
  'IPv4 address': ['at 192.0.2.17', '192.0.2.17'],
  'Telephone number, international': ['call +49 30 901820 12', '+49 30 901820 12'],
  'Telephone number': ['call (202) 555-0143', '(202) 555-0143'],
  'Customer number': ['I am ACM-00012345', 'ACM-00012345'],
}

describe('the masking rules', () => {
  it('have the shape of the service, with an order and an example each', () => {
    expect(parseMaskingPatterns(MASKING_RULES)).toEqual(MASKING_RULES)
    expect(patterns.map(({ order }) => order)).toEqual(patterns.map((_, index) => index + 1))
    expect(Object.keys(EXAMPLES)).toEqual(patterns.map(({ name }) => name))
  })

  it.each(Object.entries(EXAMPLES))('%s is found', (name, [text, secret]) => {
    expect(findAll(text)[name]).toContain(secret)
  })

  it.each([
    'My router blinks red since the update of 3 March.',
    'The order 4711 was 19.99 and came on 2026-11-21 at 10:15.',
    'Version 21.23.0, error 503, three times within 5 minutes.',
    'I paid twice, see invoice 2026-0815.',
  ])('do not change an ordinary sentence: %s', text => {
    expect(findAll(text)).toEqual({})
  })
})
