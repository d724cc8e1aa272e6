import { describe, expect, it } from 'vitest'
import { asksForHuman } from './human-request.ts'

describe('asksForHuman', () => {
  it.each([
    'I want to talk to a human',
    'i want to talk to a human.',
    'Can I speak to someone?',
    'Could I please speak with a real person?',
    'real person please',
    'Human!',
    'agent',
    'operator',
    'Live agent please',
    'representative',
    'customer service',
    'Connect me to an agent',
    'please transfer me to a human agent now',
    'Put me through to somebody',
    'I need a human',
    'get me a manager',
    'Give me a real person, not a bot',
    "I don't want to talk to a bot, I want a human",
    'You are not helping. Let me talk to your supervisor.',
    'Can you hand me over to a colleague?',
    'Is there someone I can talk to?',
    'Is there a human I can speak with',
    'I would like to chat with a support agent about my order',
    'I want to speak to customer support',
    'How can I talk to a person?',
    'How do I reach a human?',
    'Please escalate this',
    'call me back',
    'My router is broken. I want to speak to someone',
    'Can I talk to a person who knows about mesh?',
    'live chat please',
  ])('accepts "%s"', text => {
    expect(asksForHuman(text)).toBe(true)
  })

  it.each([
    'Is a human body conductive?',
    'is the human eye able to see the infrared light of the remote',
    'How do I change the user agent of my browser?',
    'Can I block a person from my network?',
    'Does a person have to be at home for the delivery?',
    'Does someone have to sign for the parcel?',
    'The delivery person left my parcel outside',
    'Can someone else use my guest network?',
    'Which operator do I need for the SIM card?',
    'How many people can use the Wi-Fi at once?',
    'When can I talk to someone?',
    'Am I talking to a human?',
    'Are you a human?',
    "I don't want to talk to a human",
    'No need to connect me to an agent, thanks',
    'How do I reset my router?',
    'How do I talk to my router from outside?',
    'Can my kids chat with people from other countries online?',
    'What does the support page say?',
    'Do you have a password manager?',
    'I have people visiting and need a guest network',
    'How do I contact support by e-mail?',
    'I need the staff discount',
    'connect to a person counter sensor',
    '',
    '???',
  ])('rejects "%s"', text => {
    expect(asksForHuman(text)).toBe(false)
  })
})
