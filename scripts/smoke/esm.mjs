/** Checks the build of ES modules, and writes what it exports. The second argument names the entries of client and view. */
import { writeFileSync } from 'node:fs'
import { parseServerMessage } from '@aiagent/protocol'
import { conversation } from './conversation.mjs'
import { checkBuild } from './whole-build.mjs'

const [, , endpoint, names] = process.argv
if (typeof parseServerMessage !== 'function') throw new Error('The protocol has no codec.')
const entries = {}
for (const name of names.split(',')) entries[name] = await import(name)
writeFileSync('exports.json', JSON.stringify(await checkBuild(entries)))
console.log(await conversation(entries['@aiagent/client'], endpoint))
