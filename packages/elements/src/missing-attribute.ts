import type { AiAgent, AiAgentConfig } from '@aiagent/client'

/** An element that names its agent by attributes, or has properties for that. */
interface AgentElement extends HTMLElement {
  agent?: AiAgent | undefined
  config?: Partial<AiAgentConfig> | undefined
}

/**
 * Warns in the next task where an element lacks what no chat opens without. Call it once, when the element is added to the page.
 *
 * @returns the timer
 */
export function checkAttributes(element: AgentElement): unknown {
  return setTimeout(() => {
    const { agent, config = {} } = element
    const { logger, enableLogging = true, logLevel = 3 } = config
    const isMissing = (name: string) => !element.getAttribute(name) && !config[name === 'endpoint' ? name : 'id']
    const missing = ['endpoint', 'agent-id'].filter(isMissing).join(' and ')
    if (!agent && missing && (logger || (enableLogging && logLevel <= 3)))
      (logger ?? console).warn(`<${element.localName}> opens no chat without ${missing}.`)
  })
}
