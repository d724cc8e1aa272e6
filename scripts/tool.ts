// Runs a tool of tools/verify, installed when it is missing: `tsx scripts/tool.ts biome lint .`
import { run, verifyTool } from './tools.ts'

const [name, ...args] = process.argv.slice(2)
if (name === undefined) throw new Error('Name the tool to run.')
process.exitCode = (await run(verifyTool(name), args)).code
