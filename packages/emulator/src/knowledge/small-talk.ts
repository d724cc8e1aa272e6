/** What a message is that asks nothing of the articles. */
export type SmallTalk = 'greeting' | 'thanks' | 'goodbye' | 'identity' | 'help' | 'agreement' | 'refusal' | 'complaint'

const FILLER =
  '(?: (?:there|all|everyone|everybody|again|team|bot|agent|so much|very much|a lot|a bunch|for now|then|and|you|now|to you|too|later|soon|friend))*'

const KINDS: ReadonlyArray<readonly [SmallTalk, RegExp]> = [
  [
    'agreement',
    /^(?:yes|yeah|yep|yup|ok|okay|sure|of course|please do|alright|fine|please)(?: (?:please|sure|do|thanks|thank you|i do|i would))*$/,
  ],
  ['refusal', /^(?:no|nope|nah|not really|no need)(?: (?:thanks|thank you|please|need|its fine|im fine))*$/],
  [
    'complaint',
    /^(?:(?:this|that|it|you|your answer)(?: answer)? (?:did not|didnt|does not|doesnt|do not|dont|is not|isnt|are not|arent|was not|wasnt)(?: really)? (?:help|helping|helpful|work|working|understand|useful|what i asked|what i meant)(?: me)?(?: at all)?|not helpful|useless|wrong(?: answer)?|(?:im|i am) (?:so |very |really )?(?:angry|annoyed|frustrated|disappointed|upset))$/,
  ],
  [
    'identity',
    /^(?:(?:so|wait|and|but|hi|hello|hey) )*(?:are you|am i (?:talking|speaking|chatting) (?:to|with)|is this|who are you|what are you)(?: (?:really|actually|just|only|a|an|the|real|live|actual))*(?: (?:human|person|human being|bot|robot|chatbot|machine|ai|computer|someone))?(?: or (?:a |an )?(?:real |live )?(?:human|person|bot|robot|chatbot|machine|ai|computer))?$/,
  ],
  [
    'help',
    /^(?:help(?: me)?(?: please)?|please help(?: me)?|i need (?:some )?help|can you help(?: me)?(?: please)?|what (?:can|do) you (?:do|know|help with|help me with)(?: for me)?|what can i ask(?: you)?|menu|topics)$/,
  ],
  [
    'goodbye',
    new RegExp(
      `^(?:(?:ok|okay|well|alright|thats all|thats it|and) )*(?:bye|bye bye|goodbye|good bye|see you|see ya|so long|farewell|cu|good night|have a (?:nice|good|great) (?:day|one|evening|weekend)|take care|thats all|thats it|nothing else|no thats all|quit|exit)${FILLER}$`,
    ),
  ],
  [
    'thanks',
    new RegExp(
      `^(?:(?:ok|okay|great|perfect|super|cool|nice|good|awesome|wonderful|brilliant|alright|fine|no|yes|many|and|got it|it works now|that helped|that works) )*(?:thanks|thank you|thank u|thx|ty|cheers|thanks a million|much appreciated|that helped|that works|it works now|got it|great|perfect|awesome|wonderful|brilliant)${FILLER}(?: (?:for|that) .{0,60})?$`,
    ),
  ],
  [
    'greeting',
    new RegExp(
      `^(?:(?:oh|well|and) )*(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|hi hello|whats up|how are you(?: doing)?(?: today)?|how do you do|nice to meet you)${FILLER}$`,
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
