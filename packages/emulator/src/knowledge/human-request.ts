const KIND =
  '(?:(?:a|an|the|your|some|one of your|any|another|actual|real|live|human|living|customer|service|support|care|sales|technical) )*'
const HUMAN =
  '(?:humans?|persons?|people|agents?|operators?|representatives?|reps?|advis[oe]rs?|consultants?|assistants?|employees?|colleagues?|supervisors?|managers?|staff(?: members?)?|(?:team|staff) members?|customer (?:service|support|care)|support(?: team)?|help ?desk|(?:support|service) team|human being)'
const SOMEONE = '(?:some(?:one|body)|any(?:one|body))'
/** What may follow the person asked for. Anything else ("a person from my network") makes it another subject. */
const END =
  '(?= *(?:$|[.,;:!?]|please|now|right|today|here|instead|immediately|asap|about|regarding|who|that|at|in|on|from (?:your|the|customer|support)|for|because|to (?:help|solve|fix|sort|talk|speak|chat)|real|human|else|or|and|so|as|again|directly))'
const TALK = '(?:talk|talking|speak|speaking|chat|chatting)'
const MOVE =
  '(?:connect|connecting|transfer|transferring|forward|switch|put|pass|hand|escalate|redirect|hook)(?: (?:me|us|this|it|the chat|this chat|the conversation|over|through|on|up|across))*'

const WANTED: readonly RegExp[] = [
  new RegExp(`\\b${TALK} (?:to|with) ${KIND}(?:${HUMAN}|${SOMEONE})${END}`),
  new RegExp(`\\b${MOVE} (?:to|with) ${KIND}(?:${HUMAN}|${SOMEONE})${END}`),
  new RegExp(
    `\\b(?:want|need|prefer|like|get me|give me|have|send me|fetch me|bring me) ${KIND}${HUMAN}(?= *(?:$|[.,;!?]|please|now|instead|asap|to (?:help|solve|talk|speak|chat)|here))`,
  ),
  new RegExp(
    `\\b(?:reach|contact|call|ask|message|get hold of|get through to) (?:a |an |the )?(?:actual |real |live |living )*(?:humans?|real persons?|person|human being|live agents?|operators?|representatives?)${END}`,
  ),
  new RegExp(`\\b(?:reach|contact|get hold of|get through to) (?:a |an )?agents?${END}`),
  new RegExp(
    `\\b(?:is there|are there|isnt there) ${KIND}(?:${HUMAN}|${SOMEONE})(?: \\w+){0,3} (?:i|we) (?:can|could|may) (?:talk|speak|chat)\\b`,
  ),
  /\b(?:escalate|escalation) (?:this|it|my (?:case|issue|problem|request))\b|^(?:please )?escalate\b/,
  /\b(?:call|ring|phone) me back\b|\bhuman (?:help|support|assistance)\b|\blive (?:chat|support)\b(?= *(?:$|[.,;!?]|please|now|with))/,
]

/** A message that is nothing but the person asked for: "agent please", "real person!!". */
const BARE = new RegExp(`^(?:(?:please|ok|okay|no|hello|hi|hey|just) )*${KIND}${HUMAN}(?: (?:please|now|asap|here))*$`)
const TOO_VAGUE_ALONE = /^(?:support|people|staff|manager|consultant|assistant|the .*)$/

const NOT_WANTED =
  /\b(?:dont|do not|didnt|did not|no need|never|not|without|rather than|instead of|wouldnt|would not)(?: \w+){0,4} (?:talk|talking|speak|speaking|chat|human|person|agent|operator|connect|transfer)/
/** "I do not want a bot, I want a human": the wish comes after the refusal. */
const REFUSED_MACHINE =
  /\b(?:bots?|robots?|machines?|computers?|chatbots?|ai|automated|assistant|understand|help|helping|helpful|working|useful)\b/
/** Asks about people rather than for one: opening hours, prices, or whether a person is there already. */
const ASKS_ABOUT =
  /^(?:when|what (?:time|are the|hours)|until when|how (?:much|long|late|early)|why|does|do (?:i|you|we) (?:have|need) to|is it|am i)\b/

/**
 * Whether the person asks for a human to take over.
 *
 * Decides by the usual English phrases; a sentence that merely holds such a word ("is the human body conductive", "block
 * a person from my network", "when can I talk to someone") is an ordinary question.
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
