import { anyOf } from './word-pattern.ts'

/** What a message is that asks nothing of the articles. */
export type SmallTalk = 'agreement' | 'refusal' | 'complaint' | 'identity' | 'help' | 'goodbye' | 'thanks' | 'greeting'

const THE = '(?: (?:really|actually|just|only|a|an|the|real|live|actual))*'
const WHO = anyOf('human being | human | person | bot | robot | chatbot | machine | ai | computer | someone')
const LIKED = anyOf(
  'great | perfect | awesome | wonderful | brilliant | got it | that helped | that works | it works now',
)
const SO_FAR = anyOf('ok | okay | well | alright | fine | cool | nice | good | super | and | no | yes | oh | many')
const DID_NOT = anyOf(`
  did not | didnt | does not | doesnt | do not | dont | is not | isnt | are not | arent | was not | wasnt
`)
/** What follows such a message without making it a question. */
const REST = `(?: ${anyOf(`
  there | all | everyone | everybody | again | team | bot | agent | so much | very much | a lot | a bunch | for now
  | then | and | you | now | to you | too | later | soon | friend
`)})*`

const YES = anyOf('yes | yeah | yep | yup | ok | okay | sure | of course | please do | alright | fine | please')
const YES_REST = '(?: (?:please|sure|do|thanks|thank you|i do|i would))*'

const whole = (pattern: string) => new RegExp(`^${pattern}$`)

/** Asked in this order; the first that says yes wins. */
const KINDS: ReadonlyArray<readonly [SmallTalk, RegExp]> = [
  ['agreement', whole(`${YES}${YES_REST}`)],
  ['refusal', /^(?:no|nope|nah|not really|no need)(?: (?:thanks|thank you|please|need|its fine|im fine))*$/],
  [
    'complaint',
    whole(
      `(?:(?:this|that|it|you|(?:this|your) answer) ${DID_NOT}(?: really)? ${anyOf(`
        help | helping | helpful | work | working | understand | useful | what i asked | what i meant
      `)}(?: me)?(?: at all)?|not helpful|useless|wrong(?: answer)?)`,
    ),
  ],
  ['complaint', /^(?:im|i am) (?:(?:so|very|really) )?(?:angry|annoyed|frustrated|disappointed|upset)$/],
  [
    'identity',
    whole(
      `(?:(?:so|wait|and|but|hi|hello|hey) )*${anyOf(`
        are you | am i (?:talking|speaking|chatting) (?:to|with) | is this | who are you | what are you
      `)}${THE}(?: ${WHO})?(?: or${THE} ${WHO})?`,
    ),
  ],
  [
    'help',
    whole(
      anyOf(`
        help(?: me)?(?: please)? | please help(?: me)? | i need (?:some )?help | can you help(?: me)?(?: please)?
        | what (?:can|do) you (?:do|know|help with|help me with)(?: for me)? | what can i ask(?: you)? | menu | topics
      `),
    ),
  ],
  [
    'goodbye',
    whole(
      `(?:${SO_FAR} )*${anyOf(`
        bye | bye bye | goodbye | good bye | see you | see ya | so long | farewell | cu | good night | take care
        | have a (?:nice|good|great) (?:day|one|evening|weekend) | thats all | thats it | nothing else | quit | exit
      `)}${REST}`,
    ),
  ],
  [
    'thanks',
    whole(
      `(?:(?:${SO_FAR}|${LIKED}) )*${anyOf(`
        thanks | thanks a million | thank you | thank u | thx | ty | cheers | much appreciated | ${LIKED}
      `)}${REST}(?: (?:for|that) .{0,60})?`,
    ),
  ],
  [
    'greeting',
    whole(
      `(?:${SO_FAR} )*${anyOf(`
        hi | hello | hey | hiya | howdy | greetings | good (?:morning|afternoon|evening|day) | whats up
        | how are you(?: doing)?(?: today)? | how do you do | nice to meet you
      `)}${REST}`,
    ),
  ],
]

/** Recognises a message that is nothing but small talk; one that also asks something is an ordinary question. */
export function recogniseSmallTalk(text: string): SmallTalk | undefined {
  // Nobody greets in more than a few words, and a long paste should not be looked at here.
  if (text.length > 200) return undefined
  const clauses = text
    .toLowerCase()
    .replace(/['’`]/g, '')
    .split(/[.,;:!?\n]+/)
    .map(clause => clause.replace(/[^\p{L}\p{N}]+/gu, ' ').trim())
    .filter(clause => clause !== '')
  const kinds = clauses.map(clause => KINDS.find(([, pattern]) => pattern.test(clause))?.[0])
  return kinds.every(kind => kind !== undefined) ? kinds.at(-1) : undefined
}
