'use client'

export { AiAgentProvider, type AiAgentProviderProps, useAiAgent, useConversationView } from './provider.ts'
export { useConnection, useConversation } from './use-conversation.ts'
