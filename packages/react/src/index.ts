export { AiAgentProvider, type AiAgentProviderProps, useAiAgent, useConversationView } from './provider.ts'
export {
  type AiAgentChat,
  type AiAgentChatMessage,
  type AiAgentChatPart,
  type AiAgentChatStatus,
  NotSupportedError,
  useAiAgentChat,
} from './use-ai-agent-chat.ts'
export { useConnection, useConversation } from './use-conversation.ts'
