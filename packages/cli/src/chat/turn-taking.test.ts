import { ROLE } from '@aiagent/client'
import { describe, expect, it } from 'vitest'
import { TurnTaking } from './turn-taking.ts'

/** The output of a sequence: lines as `> …`, frames by name, ends in brackets. */
function play(...steps: string[]): string {
  const shown: string[] = []
  const turns = new TurnTaking()
  for (const step of steps) {
    const show = () => void shown.push(step)
    if (step.startsWith('>'))
      turns.start(
        () => void shown.push(step),
        end => void shown.push(`[${end}]`),
      )
    else if (step === 'beat') turns.handleHeartbeat()
    else if (step.startsWith('answer')) turns.handleAgentMessage(ROLE.CUSTOMER_SUPPORT, show)
    else if (step.startsWith('options')) turns.handleAgentMessage(ROLE.FOLLOW_UP_QUESTION, show)
    else if (step.startsWith('error')) turns.handleErrorMessage(show)
    else turns.handleOver()
  }
  return shown.join(' ')
}

describe('TurnTaking', () => {
  it.each([
    ['an answer', ['>1', 'beat', 'answer'], '>1 answer [answered]'],
    ['an answer without a heartbeat', ['>1', 'answer'], '>1 answer [answered]'],
    ['a greeting before the first line', ['answer', '>1', 'beat', 'answer1'], 'answer >1 answer1 [answered]'],
    [
      'options that come when the next line is sent already',
      ['>1', 'beat', 'answer', '>2', 'options', 'beat', 'answer2'],
      '>1 answer [answered] options >2 answer2 [answered]',
    ],
    [
      'options that come after the last line',
      ['>1', 'answer', 'options', 'options2'],
      '>1 answer [answered] options options2',
    ],
    ['a question with options as the whole answer', ['>1', 'beat', 'options'], '>1 options [answered]'],
    ['the same without a heartbeat', ['>1', 'options'], '>1 options [answered]'],
    [
      'a question with options as the whole answer to a second line, without heartbeats',
      ['>1', 'answer', 'options', '>2', 'options2'],
      '>1 answer [answered] options >2 options2 [answered]',
    ],
    ['an error of the service', ['>1', 'beat', 'error'], '>1 error [refused]'],
    ['the end of the conversation', ['>1', 'over'], '>1 [over]'],
    ['the end of the conversation between two lines', ['>1', 'answer', 'over', 'beat'], '>1 answer [answered]'],
  ])('shows %s in its place', (_what, steps, shown) => {
    expect(play(...steps)).toBe(shown)
  })
})
