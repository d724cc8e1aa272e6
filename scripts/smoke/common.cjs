/** Checks that `require()` gives what the ES modules export, and uses it. The second argument names the entries of client and view. */
const { readFileSync } = require('node:fs')
const { parseServerMessage } = require('@aiagent/protocol')

const [, , endpoint, names] = process.argv
if (typeof parseServerMessage !== 'function') throw new Error('The protocol has no codec.')
const entries = Object.fromEntries(names.split(',').map(name => [name, require(name)]))
void Promise.all([import('./conversation.mjs'), import('./whole-build.mjs')]).then(
  async ([{ conversation }, { checkBuild }]) => {
    await checkBuild(entries, JSON.parse(readFileSync('exports.json', 'utf8')))
    console.log(await conversation(entries['@aiagent/client'], endpoint))
  },
)
