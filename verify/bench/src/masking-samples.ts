import type { MaskingPatterns } from '@aiagent/protocol'

/** Twenty rules as administrators write them: some with lookarounds, some with repetitions that have no end. */
const RULES: readonly { name: string; pattern: string; left?: number; right?: number; luhn?: boolean }[] = [
  { name: 'Card', pattern: String.raw`\b(?:\d[ -]*?){13,19}\b`, right: 4, luhn: true },
  { name: 'Card in groups', pattern: String.raw`(?<!\d)\d{4}([ -]?)\d{4}[ -]?\d{4}[ -]?\d{4}(?!\d)`, right: 4 },
  { name: 'Charge card', pattern: String.raw`\b3[47]\d{2}[ -]?\d{6}[ -]?\d{5}\b`, right: 5 },
  { name: 'Security code', pattern: String.raw`(?<=\b(?:CVV|CVC|cvv|cvc)\s*:?\s*)\d{3,4}\b` },
  {
    name: 'Social security',
    pattern: String.raw`\b(?!000|666|9\d{2})\d{3}[- ](?!00)\d{2}[- ](?!0000)\d{4}\b`,
    right: 4,
  },
  { name: 'Taxpayer', pattern: String.raw`\b9\d{2}-[5-9]\d-\d{4}\b`, right: 4 },
  { name: 'E-mail', pattern: String.raw`\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b`, left: 2 },
  { name: 'Telephone', pattern: String.raw`(?<![\d+])(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4}(?!\d)`, right: 4 },
  { name: 'Telephone abroad', pattern: String.raw`(?<![\w+])\+\d{1,3}(?:[ .-]?\d{2,4}){2,5}(?!\d)`, right: 2 },
  { name: 'IBAN', pattern: String.raw`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`, right: 4 },
  { name: 'Account', pattern: String.raw`(?<=\b[Aa]ccount\s*(?:number|no\.?)?\s*[:#]?\s*)\d{6,}`, right: 3 },
  { name: 'Routing', pattern: String.raw`(?<=\b(?:[Rr]outing|ABA)(?: number| no\.?)?:? {1,2})\d{9}\b` },
  { name: 'Passport', pattern: String.raw`(?<=\b[Pp]assport\s*(?:number|no\.?)?:?\s*)[A-Z]{0,2}\d{6,9}\b` },
  { name: 'Password', pattern: String.raw`(?<=\b(?:[Pp]assword|[Pp]asscode|PIN)(?: is)?\s*:?\s+)\S+` },
  {
    name: 'Date of birth',
    pattern: String.raw`(?<=\b(?:[Bb]orn(?: on)?|[Bb]irthday|DOB):?\s+)\d{1,4}[./-]\d{1,2}[./-]\d{1,4}`,
  },
  { name: 'Insurance', pattern: String.raw`\b[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b`, right: 1 },
  { name: 'Licence', pattern: String.raw`\b[A-Z]\d{3}-?\d{4}-?\d{4}\b`, right: 4 },
  { name: 'IPv4', pattern: String.raw`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b` },
  { name: 'MAC', pattern: String.raw`\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b`, right: 5 },
  { name: 'Link with a secret', pattern: String.raw`\bhttps?:\/\/\S+[?&](?:token|key|code)=\S+`, left: 8 },
]

export const REALISTIC_RULES: MaskingPatterns = {
  patterns: RULES.map(({ name, pattern, left = 0, right = 0, luhn = false }, index) => ({
    name,
    order: index + 1,
    javascriptRegularExpression: pattern,
    numOfCharsToUnmaskFromLeft: left,
    numOfCharsToUnmaskFromRight: right,
    applyLuhnAlgorithm: luhn,
    maskingCharacter: '*',
  })),
}

/** What people write, of 40 characters each: with nothing to hide, with numbers, and with something to hide. */
const SHORT_MESSAGES = [
  'Hello, my router blinks red since today.',
  'Yes, and I have restarted it 3 times now',
  'Order 4711 of 2026-11-02 is not here yet',
  'My card is 4111 1111 1111 1111, exp 4/29',
  'Please write to first.last@mail.example.',
]

/** The same with 200 characters. */
const LONG_MESSAGES = [
  'Hello, since the update of last week the light of my router blinks red, and the telephone does not ring any more. I have restarted it several times now. Could somebody have a look at it? Thank you all!',
  'Hello, since the update of 3 March 2026 my router (serial 2210-77) blinks red, order 4711 was 19.99 and came on 2026-11-02 at 10:15. Version 21.23.0 says error 503, three times in 5 minutes. Thank you',
  'I paid invoice 2026-0815 twice, with 4111 1111 1111 1111 and from account number 000123456789. Please call me at (202) 555-0143 or write to first.last@mail.example.org, my password is Hunter2!, thanks',
]

export const MESSAGES: Readonly<Record<40 | 200, readonly string[]>> = { 40: SHORT_MESSAGES, 200: LONG_MESSAGES }

/** A long text of such messages. */
export function longText(length: number): string {
  const messages = LONG_MESSAGES.join(' ')
  return messages.repeat(Math.ceil(length / messages.length)).slice(0, length)
}

/** Patterns with exponential backtracking, each with a text that causes it. */
export const BAD_PATTERNS: readonly { pattern: string; hostile(length: number): string }[] = [
  { pattern: '(a+)+$', hostile: length => `${'a'.repeat(length)}!` },
  { pattern: '(a|a)*$', hostile: length => `${'a'.repeat(length)}!` },
  { pattern: '(a|aa)+$', hostile: length => `${'a'.repeat(length)}!` },
  { pattern: '(a*)*b', hostile: length => `b${'a'.repeat(length)}` },
  { pattern: '(?:(?:a*)*)*b', hostile: length => `b${'a'.repeat(length)}` },
  { pattern: '(x+x+)+y', hostile: length => `y${'x'.repeat(length)}` },
  { pattern: '(?:a?){30}a{30}', hostile: length => `${'a'.repeat(29)} `.repeat(length / 30) },
  { pattern: '(.*a){20}', hostile: length => 'a'.repeat(19) + 'b'.repeat(length) },
  { pattern: '.*.*.*=x', hostile: length => `x${'='.repeat(length)}` },
  { pattern: String.raw`([a-zA-Z]+)*\d$`, hostile: length => `1${'a'.repeat(length)}` },
  { pattern: String.raw`^(\w+\s?)*$`, hostile: length => `${'word '.repeat(length / 5)}!` },
  { pattern: String.raw`\s+$`, hostile: length => `${' '.repeat(length)}x` },
  { pattern: String.raw`(?:\d+[- ]?)+[A-Z]`, hostile: length => `A${'1234-'.repeat(length / 5)}` },
  { pattern: String.raw`\b(?:\d[ -]*?){13,19}\b`, hostile: length => `${`1${' '.repeat(9)}`.repeat(length / 10)}a` },
  {
    pattern: String.raw`account\s*(?:number|no)?\s*[:#]?\s*\d{6,}`,
    hostile: length => `123456 account${' '.repeat(length)}`,
  },
  {
    pattern: '^([a-zA-Z0-9])(([-.]|[_]+)?([a-zA-Z0-9]+))*@[a-z0-9]+[.][a-z]{2,3}$',
    hostile: length => `${'a'.repeat(length)}.@`,
  },
  { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$', hostile: length => `${'a'.repeat(length)}A` },
  { pattern: String.raw`"(?:[^"\\]|\\?.)*"`, hostile: length => `"${'\\'.repeat(length)}` },
  { pattern: String.raw`(<[^>]*>)+\s*</end>`, hostile: length => `</end>${'<b>'.repeat(length / 3)}` },
  { pattern: String.raw`(?<=^(\w+\s*)+:)\d+`, hostile: length => `!${'word '.repeat(length / 5)}:1` },
  { pattern: '(?=(a+)+b)a', hostile: length => `b${'a'.repeat(length)}` },
  { pattern: 'a(?:[^]*b)?', hostile: length => `b${'a'.repeat(length)}` },
]
