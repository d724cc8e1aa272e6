import { AiAgentProvider } from '@aiagent/react'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { ErrorBanner } from '../examples/react/error-banner.tsx'
import { setUpAgents } from './agents.ts'

afterEach(() => {
  cleanup()
  document.documentElement.removeAttribute('lang')
})

it.each([
  ['de', 503, 'Der Dienst ist nicht erreichbar. Bitte versuchen Sie es erneut.'],
  ['en', 404, 'Please try again later, or contact us in another way.'],
])('a host shows the sentences of the element: %s, status %i', async (language, status, sentence) => {
  document.documentElement.lang = language
  const { newAgent, emulator } = setUpAgents()
  emulator.faults.add({ kind: 'answer', status })
  const agent = newAgent()
  render(
    <AiAgentProvider agent={agent}>
      <ErrorBanner />
    </AiAgentProvider>,
  )
  expect((await screen.findByRole('alert')).textContent).toBe(sentence)
  await agent.destroy()
})
