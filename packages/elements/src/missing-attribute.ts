import type { AiAgent, AiAgentConfig } from '@aiagent/client'

/** An element that names its agent by attributes, or has properties for that. */
interface AgentElement extends HTMLElement {
  agent?: AiAgent | undefined
  config?: Partial<AiAgentConfig> | undefined
}

const checked = new WeakSet<AgentElement>()

/** Warns once, a task after an element was added to the page, where it lacks what no chat opens without. */
export function checkAttributes(element: AgentElement): void {
  if (checked.has(element)) return
  checked.add(element)
  setTimeout(() => {
    const { agent, config = {}, localName } = element
    const missing = Object.entries({ endpoint: config.endpoint, 'agent-id': config.id })
      .flatMap(([name, given]) => (element.getAttribute(name) || given ? [] : name))
      .join(' and ')
    if (agent || !missing) return
    const { logger, enableLogging, logLevel = 3 } = config
    const text = `<${localName}> opens no chat without ${missing}.`
    if (logger) logger.warn(text)
    else if (enableLogging !== false && logLevel <= 3) console.warn(text)
  })
}
