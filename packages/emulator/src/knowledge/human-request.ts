import { anyOf } from './word-pattern.ts'

const KIND = `(?:${anyOf(`
  a | an | the | your | some | one of your | any | another | actual | real | live | human | living
  | customer | service | support | care | sales | technical
`)} )*`
const HUMAN = anyOf(`
  humans? | human being | persons? | people | agents? | operators? | representatives? | reps? | advis[oe]rs?
  | consultants? | assistants? | employees? | colleagues? | supervisors? | managers? | staff(?: members?)?
  | (?:team|staff) members? | customer (?:service|support|care) | support(?: team)? | (?:support|service) team
  | help ?desk
`)
/** Words that mean a human whatever stands around them: "contact support" asks for an address, "contact a human" not. */
const SURELY_HUMAN = `(?:(?:a|an|the|actual|real|live|living) )*${anyOf(`
  humans? | person | human being | live agents? | operators? | representatives?
`)}`
const SOMEONE = '(?:some(?:one|body)|any(?:one|body))'
/** What may follow the person asked for. Anything else ("a person from my network") makes it another subject. */
const END = `(?= *${anyOf(`
  $ | [.,;:!?] | please | now | right | today | here | instead | immediately | asap | about | regarding | who | that
  | at | in | on | from (?:your|the|customer|support) | for | because | to (?:help|solve|fix|sort|talk|speak|chat)
  | real | human | else | or | and | so | as | again | directly
`)})`
/** The same after "I need an agent", which more often goes on to something else. */
const CLOSE_END = '(?= *(?:$|[.,;!?]|please|now|instead|asap|here|to (?:help|solve|talk|speak|chat)))'
const TALK = '(?:talk|talking|speak|speaking|chat|chatting)'
const MOVE = `${anyOf(`
  connect | connecting | transfer | transferring | forward | switch | put | pass | hand | escalate | redirect
`)}(?: ${anyOf('me | us | this | it | the chat | this chat | the conversation | over | through | on | up | across')})*`
const WANT = anyOf('want | need | prefer | like | have | get me | give me | send me | bring me')
const REACH = anyOf('reach | contact | call | ask | message | get hold of | get through to')

const WANTED: readonly RegExp[] = [
  new RegExp(`\\b(?:${TALK}|${MOVE}) (?:to|with) ${KIND}(?:${HUMAN}|${SOMEONE})${END}`),
  new RegExp(`\\b${WANT} ${KIND}${HUMAN}${CLOSE_END}`),
  new RegExp(`\\b${REACH} ${SURELY_HUMAN}${END}`),
  new RegExp(
    `\\b(?:is|are|isnt) there ${KIND}(?:${HUMAN}|${SOMEONE})(?: \\w+){0,3} (?:i|we) (?:can|could|may) ${TALK}\\b`,
  ),
  /\bescalat(?:e|ion) (?:this|it|my (?:case|issue|problem|request))\b|^(?:please )?escalate\b/,
  /\b(?:call|ring|phone) me back\b|\bhuman (?:help|support|assistance)\b/,
  /\blive (?:chat|support)\b(?= *(?:$|[.,;!?]|please|now|with))/,
]

/** A message that is nothing but the person asked for: "agent please", "real person!!". */
const BARE = new RegExp(`^(?:(?:please|ok|okay|no|hello|hi|hey|just) )*${KIND}${HUMAN}(?: (?:please|now|asap|here))*$`)
const TOO_VAGUE_ALONE = /^(?:support|people|staff|manager|consultant|assistant|the .*)$/

const NOT = anyOf(`
  dont | do not | didnt | did not | no need | never | not | without | rather than | instead of | wouldnt | would not
`)
const NOT_WANTED = new RegExp(`\\b${NOT}(?: \\w+){0,4} (?:${TALK}|human|person|agent|operator|connect|transfer)`)
/** "I do not want a bot, I want a human": the wish comes after the refusal. */
const REFUSED_MACHINE = new RegExp(
  `\\b${anyOf(`
  bots? | robots? | machines? | computers? | chatbots? | ai | automated | assistant
  | understand | help | helping | helpful | working | useful
`)}\\b`,
)
/** Asks about people rather than for one: opening hours, prices, or whether a person is there already. */
const ASKS_ABOUT = new RegExp(
  `^${anyOf(`
  when | what (?:time|are the|hours) | until when | how (?:much|long|late|early) | why | does
  | do (?:i|you|we) (?:have|need) to | is it | am i
`)}\\b`,
)

/**
 * Whether the person asks for a human to take over.
 *
 * Decides by the usual English phrases; a sentence that merely holds such a word ("is the human body conductive",
 * "block a person from my network", "when can I talk to someone") is an ordinary question.
 */
export function asksForHuman(text: string): boolean {
  const plain = text
    .slice(0, 2_000)
    .toLowerCase()
    .replace(/['’`]/g, '')
    .replace(/[^\p{L}\p{N}.,;:!?]+/gu, ' ')
    .trim()
  const words = plain.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
  if (BARE.test(words)) return !TOO_VAGUE_ALONE.test(words)
  return plain.split(/[.;!?]+/).some(sentence => wants(sentence.trim()))
}

function wants(sentence: string): boolean {
  if (ASKS_ABOUT.test(sentence) || !WANTED.some(pattern => pattern.test(sentence))) return false
  const refusal = NOT_WANTED.exec(sentence)
  if (refusal === null) return true
  return (
    REFUSED_MACHINE.test(refusal[0]) ||
    WANTED.some(pattern => pattern.test(sentence.slice(refusal.index + refusal[0].length)))
  )
}
