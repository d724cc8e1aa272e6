import { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { mount } from 'svelte'
import App from './App.svelte'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })
const view = createConversationView(agent)
mount(App, { target: document.getElementById('root') as HTMLElement, props: { view } })
