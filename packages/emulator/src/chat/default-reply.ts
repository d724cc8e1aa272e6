import type { Reply } from './reply.ts'

/** Answers if the emulator has no agent: it states what is missing instead of inventing an answer. */
export const defaultReply: Reply = ({ text }) => ({
  content: text.trim()
    ? 'I have no articles to answer from. Start the emulator with a folder of articles, or give it a reply function.'
    : 'Your message is empty. What would you like to know?',
  messageData: { reasoning: 'No knowledge was given to this emulator.' },
})
