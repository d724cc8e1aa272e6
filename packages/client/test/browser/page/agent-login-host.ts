import { AiAgent, type AiAgentConfig } from '@aiagent/client'

/**
 * A page with two buttons: one starts a chat with an agent and so lets the person sign in, the other signs out. With
 * `?second` in its address a second agent of the same user follows.
 */
export function startAgentPage(): void {
  const config = JSON.parse(new URL(location.href).searchParams.get('agent') ?? '') as AiAgentConfig
  const agent = new AiAgent(config)
  const second = new URL(location.href).searchParams.has('second') ? new AiAgent(config) : undefined
  const heard: string[] = []
  globalThis.agentHeard = heard
  agent.on('agentMessage', ({ payload }) => heard.push(String(payload.message.content)))
  second?.on('connected', () => heard.push('second connected'))
  second?.on('userChanged', () => heard.push(`second: ${second.getState()}, ${second.getIsInitialized()}`))
  const run = async () => {
    try {
      await agent.initialize()
      await agent.connect()
      heard.push(agent.getState())
      await agent.send('hello')
      await second?.initialize()
      await second?.connect()
    } catch (error) {
      heard.push(`failed: ${(error as Error).message}`)
    }
  }
  const leave = async () => {
    try {
      agent.once('closed', ({ payload }) => heard.push(`closed ${payload.code}`))
      await agent.logout()
      heard.push(`signed out: ${agent.getState()}, ${agent.getIsInitialized()}, ${await agent.getAccessToken()}`)
    } catch (error) {
      heard.push(`failed: ${(error as Error).message}`)
    }
  }
  document.getElementById('open')?.addEventListener('click', () => void run())
  document.getElementById('leave')?.addEventListener('click', () => void leave())
}

declare global {
  /** The answers, the state after connecting, and what failed. */
  var agentHeard: string[]
}
