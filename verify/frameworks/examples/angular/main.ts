// Templates are compiled in the page here, so that any bundler builds it. A project of the Angular CLI leaves this line out.
import '@angular/compiler'
import { AiAgent } from '@aiagent/client'
import { createConversationView } from '@aiagent/view'
import { Component, provideZonelessChangeDetection, signal } from '@angular/core'
import { bootstrapApplication } from '@angular/platform-browser'
import { Chat, VIEW } from './chat.ts'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })

@Component({
  selector: 'app-root',
  imports: [Chat],
  template: `
    <button type="button" class="toggle" [attr.aria-expanded]="isOpen()" (click)="isOpen.set(!isOpen())">Chat</button>
    @if (isOpen()) {
      <app-chat />
    }
  `,
})
class App {
  readonly isOpen = signal(true)
}

void bootstrapApplication(App, {
  providers: [provideZonelessChangeDetection(), { provide: VIEW, useValue: createConversationView(agent) }],
})
