import type { MaskingConfiguration, MaskingPattern, MaskingPatterns, OpenRecord } from '@aiagent/protocol'

interface Rule {
  name: string
  description: string
  expression: RegExp
  /** How many characters stay readable. */
  left?: number
  right?: number
  luhn?: boolean
  character?: string
}

/** In order of application: a rule that would match a part of another rule's match comes after it. */
const RULES: readonly Rule[] = [
  {
    name: 'E-mail address',
    description: 'Its first two characters stay',
    expression: /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}/,
    left: 2,
  },
  {
    name: 'Password',
    description: 'What follows the word',
    expression: /(?<=\b(?:[Pp]assword|[Pp]asscode|PIN)(?: is)?:? {1,2})\S{4,64}/,
    character: '#',
  },
  {
    name: 'IBAN',
    description: 'International account number',
    expression: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/,
    left: 4,
    right: 4,
  },
  {
    name: 'Payment card',
    description: '13 to 19 digits with a check digit, in groups or not',
    expression: /(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)/,
    right: 4,
    luhn: true,
  },
  {
    name: 'Charge card',
    description: '15 digits in groups of 4, 6 and 5',
    expression: /\b3[47]\d{2}[ -]\d{6}[ -]\d{5}\b/,
    right: 5,
  },
  {
    name: 'Card security code',
    description: 'What follows its name',
    expression: /(?<=\b(?:CVV2?|CVC2?|cvv2?|cvc2?|[Ss]ecurity code)(?: is)?:? {1,2})\d{3,4}\b/,
  },
  {
    name: 'Card expiry',
    description: 'Month and year after a word for it',
    expression: /(?<=\b(?:[Ee]xp|[Ee]xpires|[Ee]xpiry|[Vv]alid until):? {1,2})(?:0[1-9]|1[0-2])\/(?:20)?\d{2}\b/,
  },
  {
    name: 'Social security number',
    description: 'Nine digits in groups of 3, 2 and 4',
    expression: /\b(?!000|666|9\d{2})\d{3}[- ](?!00)\d{2}[- ](?!0000)\d{4}\b/,
    right: 4,
  },
  {
    name: 'Taxpayer number',
    description: 'Like a social security number, from 9',
    expression: /\b9\d{2}[- ][5-9]\d[- ]\d{4}\b/,
    right: 4,
  },
  {
    name: 'National insurance number',
    description: 'Two letters, six digits, a letter',
    expression: /\b[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b/,
    right: 1,
  },
  {
    name: 'Bank routing number',
    description: 'Nine digits after a word for it',
    expression: /(?<=\b(?:[Rr]outing|ABA)(?: number| no\.?)?:? {1,2})\d{9}\b/,
  },
  {
    name: 'Account number',
    description: '6 to 17 digits after the word',
    expression: /(?<=\b[Aa]ccount(?: number| no\.?)?:? {1,2})\d{6,17}\b/,
    right: 3,
  },
  {
    name: 'Passport number',
    description: 'What follows the word',
    expression: /(?<=\b[Pp]assport(?: number| no\.?)?:? {1,2})[A-Z]{0,2}\d{6,9}\b/,
  },
  {
    name: 'Driving licence',
    description: 'A letter and eleven digits',
    expression: /\b[A-Z]\d{3}[- ]?\d{4}[- ]?\d{4}\b/,
    right: 4,
  },
  {
    name: 'Date of birth',
    description: 'A date after a word for it',
    expression: /(?<=\b(?:[Bb]orn(?: on)?|[Bb]irthday|[Dd]ate of birth|DOB):? {1,2})\d{1,4}[./-]\d{1,2}[./-]\d{1,4}/,
  },
  {
    name: 'MAC address',
    description: 'Six pairs of hex digits',
    expression: /\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b/,
    right: 5,
  },
  {
    name: 'IPv6 address',
    description: 'Eight groups of hex digits',
    expression: /\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b/,
  },
  {
    name: 'IPv4 address',
    description: 'Four numbers of up to 255',
    expression: /\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b/,
  },
  {
    name: 'Telephone number, international',
    description: 'Plus sign, country, groups of digits',
    expression: /(?<![\w+])\+\d{1,3}(?:[ .-]?\d{2,4}){2,5}(?!\d)/,
    left: 3,
    right: 2,
  },
  {
    name: 'Telephone number',
    description: 'Ten digits in groups of 3, 3 and 4',
    expression: /(?<![\d+])(?:\(\d{3}\)|\d{3})[ .-]?\d{3}[ .-]?\d{4}(?!\d)/,
    right: 4,
  },
  {
    name: 'Customer number',
    description: 'Ours: ACM and eight digits',
    expression: /\bACM-\d{8}\b/,
    left: 4,
    right: 2,
  },
]

const toPattern = (
  { name, description, expression, left = 0, right = 0, luhn = false, character = '*' }: Rule,
  index: number,
): MaskingPattern => ({
  name,
  description,
  order: index + 1,
  javascriptRegularExpression: expression.source,
  numOfCharsToUnmaskFromLeft: left,
  numOfCharsToUnmaskFromRight: right,
  applyLuhnAlgorithm: luhn,
  maskingCharacter: character,
})

/** The service's own example has a second field, which clients do not read. */
const HTML_TAGS: OpenRecord<MaskingConfiguration> = {
  htmlTagMatcherRegEx: '(?:[\\r\\n]|<[^>]*>)+',
  htmlTagMatcherIncr: 1,
}

/** The masking rules of a billing department. */
export const MASKING_RULES: MaskingPatterns = {
  patterns: RULES.map(toPattern),
  configuration: HTML_TAGS,
}
