// The chat element alone, over the emulator in this page: what the home page of the docs shows.
import { AiAgent } from '@aiagent/client'
import '@aiagent/elements'
import { createPageService } from './service/page-service.ts'
import './styles/element.css'

const { endpoint, environment } = createPageService()
const chat = document.createElement('ai-agent-chat')
chat.agent = new AiAgent({ id: 'help', endpoint, resume: true }, environment)
chat.suggestions = ['How do I reset my router?', 'Why is my Wi-Fi slow?', 'How long is the warranty?']
document.body.append(chat)
