import { AiAgent } from '@aiagent/client'
import { parseServerMessage } from '@aiagent/protocol'
import { conversation } from './conversation.mjs'

if (typeof parseServerMessage !== 'function') throw new Error('The protocol has no codec.')
console.log(await conversation(AiAgent, process.argv[2]))
