import { AiAgent } from '@aiagent/client'
import { createApp } from 'vue'
import { createChat } from './chat.ts'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })
createApp(createChat(agent)).mount('#root')
