import { AiAgent } from '@aiagent/client'

/** What a host's bundler makes of the client: the page finds the class under this name. */
Object.assign(globalThis, { BundledAiAgent: AiAgent })
