/**
 * A hook with the shape of `useChat()`, for components of the AI SDK.
 *
 * @module
 */
'use client'

export {
  type AiAgentChat,
  type AiAgentChatMessage,
  type AiAgentChatPart,
  type AiAgentChatStatus,
  NotSupportedError,
  useAiAgentChat,
} from './use-ai-agent-chat.ts'
