const { AiAgent } = require('@aiagent/client')
const { parseServerMessage } = require('@aiagent/protocol')

if (typeof parseServerMessage !== 'function') throw new Error('The protocol has no codec.')
void import('./conversation.mjs').then(async ({ conversation }) => {
  console.log(await conversation(AiAgent, process.argv[2]))
})
