import { describe, expect, it } from 'vitest'
import { recogniseSmallTalk } from './small-talk.ts'

describe('recogniseSmallTalk', () => {
  it.each([
    ['Hi', 'greeting'],
    ['Hello there!', 'greeting'],
    ['Hey, how are you?', 'greeting'],
    ['thx', 'thanks'],
    ['Great, thank you very much!', 'thanks'],
    ['Thanks for your help', 'thanks'],
    ['ok bye', 'goodbye'],
    ['Thanks! Have a nice day.', 'goodbye'],
    ["That's all", 'goodbye'],
    ['are you a bot?', 'identity'],
    ['Am I talking to a human?', 'identity'],
    ['Are you human or a machine?', 'identity'],
    ['help', 'help'],
    ['What can you do for me?', 'help'],
  ])('takes "%s" as %s', (text, kind) => {
    expect(recogniseSmallTalk(text)).toBe(kind)
  })

  it.each([
    'Hi, how do I reset my router?',
    'Thanks, but where is my invoice?',
    'hello kitty stickers',
    'Are you open on Sundays?',
    'good router',
    'Is this router fast?',
    '!!!',
    'thanks '.repeat(60),
  ])('does not handle "%s"', text => {
    expect(recogniseSmallTalk(text)).toBeUndefined()
  })
})
