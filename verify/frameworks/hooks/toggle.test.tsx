import type { AiAgent } from '@aiagent/client'
import { AiAgentProvider, type AiAgentProviderProps, useConversation } from '@aiagent/react'
import { cleanup, render, screen, waitFor } from '@testing-library/react'
import { Fragment, StrictMode, useState } from 'react'
import { afterEach, describe, expect, it } from 'vitest'
import { ChatButton } from '../templates/next/app/toggle'
import { setUpAgents } from './agents.ts'

afterEach(cleanup)

/** State of the connection, the code of the error, and texts of the messages. */
function Shown() {
  const { messages, connection, error } = useConversation()
  return [connection.state, error?.code, ...messages.map(({ content }) => content)].filter(Boolean).join(' | ')
}

/** A page whose chat is opened and closed. */
function page(props: AiAgentProviderProps, Mode = Fragment) {
  const ui = (isOpen: boolean) => (
    <Mode>
      {isOpen && (
        <AiAgentProvider {...props}>
          <Shown />
        </AiAgentProvider>
      )}
    </Mode>
  )
  const { container, rerender } = render(ui(true))
  return {
    open: () => rerender(ui(true)),
    close: () => rerender(ui(false)),
    shows: (text: string) => waitFor(() => expect(container.textContent).toBe(text)),
  }
}

const isLeft = (agent: AiAgent) => waitFor(() => expect(agent.getState()).toBe('CLOSED'))

describe.each([
  ['as it is', Fragment],
  ['in StrictMode', StrictMode],
])('a chat that is closed and opened again, %s', (_, Mode) => {
  it('continues its conversation with the agent of the page, each time', async () => {
    const { newAgent, counts, isOpen } = setUpAgents()
    const agent = newAgent()
    const { open, close, shows } = page({ agent }, Mode)
    await shows('connected')
    await agent.send('one')
    await shows('connected | one | You said: one')
    close()
    await isLeft(agent)
    expect(isOpen()).toBe(false)
    open()
    await shows('connected | one | You said: one')
    close()
    await isLeft(agent)
    open()
    await agent.send('two')
    await shows('connected | one | You said: one | two | You said: two')
    expect(counts()).toEqual({ sessionCalls: 1, sockets: 3, texts: ['one', 'two'] })
    await agent.destroy()
  })

  it('shows nothing of a user who signed out meanwhile, or is being signed out, and serves the next one', async () => {
    const { newAgent, counts } = setUpAgents()
    const agent = newAgent()
    const { open, close, shows } = page({ agent }, Mode)
    await shows('connected')
    for (const text of ['secret', 'another']) {
      await agent.send(text)
      await shows(`connected | ${text} | You said: ${text}`)
      close()
      await isLeft(agent)
      const signedOut = agent.logout()
      if (text === 'secret') await signedOut
      open()
      await shows('connected')
    }
    expect(counts()).toMatchObject({ sessionCalls: 3, texts: ['secret', 'another'] })
    await agent.destroy()
  })

  it('says so when the host has destroyed the agent', async () => {
    const { newAgent, logged } = setUpAgents()
    const agent = newAgent()
    const { open, close, shows } = page({ agent }, Mode)
    await shows('connected')
    await agent.send('one')
    await shows('connected | one | You said: one')
    close()
    await agent.destroy()
    open()
    await shows('closed | agent_destroyed | one | You said: one')
    expect(logged.join()).toMatch(/destroyed.*new agent/)
  })
})

describe('the example', () => {
  it('continues the conversation each time it is opened', async () => {
    const { newAgent, counts } = setUpAgents()
    const agent = newAgent()
    render(<ChatButton agent={agent} />)
    const click = () => screen.getByRole('button', { name: 'Chat' }).click()
    for (const text of ['one', 'two']) {
      await agent.send(text)
      await screen.findByText(`You said: ${text}`)
      click()
      await isLeft(agent)
      click()
    }
    expect(await screen.findByText('You said: one')).toBeTruthy()
    expect(counts()).toMatchObject({ sessionCalls: 1, texts: ['one', 'two'] })
    await agent.destroy()
  })
})

describe('destroyOnUnmount', () => {
  it('ends an agent that was created for its provider', async () => {
    const { newAgent } = setUpAgents()
    const agent = newAgent()
    const { close, shows } = page({ agent, destroyOnUnmount: true }, StrictMode)
    await shows('connected')
    close()
    await waitFor(() => expect(agent.status.phase.at).toBe('destroyed'))
  })

  it('lets the next agent, created with the next mount, continue the stored conversation', async () => {
    const { newAgent, counts, logged } = setUpAgents()
    const Chat = () => {
      const [agent] = useState(() => newAgent({ resume: true }))
      return (
        <AiAgentProvider agent={agent} destroyOnUnmount>
          <Shown />
          <button type="button" onClick={() => void agent.send('one')}>
            Send
          </button>
        </AiAgentProvider>
      )
    }
    const { rerender } = render(<Chat />)
    await screen.findByText(/connected/)
    screen.getByRole('button').click()
    await screen.findByText(/You said: one/)
    rerender('')
    await new Promise(resolve => setTimeout(resolve))
    rerender(<Chat />)
    await screen.findByText('connected | one | You said: one')
    expect(counts().sessionCalls).toBe(1)
    expect(logged).toEqual([])
  })
})
