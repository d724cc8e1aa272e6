import { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { createApp } from 'vue'
import App from './App.vue'
import './chat.css'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })
createApp(App, { view: createConversationView(agent) }).mount('#root')
