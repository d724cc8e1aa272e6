/** Imports every entry that a server can import, and holds a conversation. The second argument names the entries. */
import { conversation } from './conversation.mjs'

const [, , endpoint, entries] = process.argv
for (const entry of entries.split(',')) {
  const names = Object.keys(await import(entry))
  if (names.length === 0) throw new Error(`${entry} exports nothing.`)
}
console.log(await conversation(await import('@aiagent/client'), endpoint))
