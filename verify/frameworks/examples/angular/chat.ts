import { injectConversation } from '@aiagent/adapters/angular'
import type { ConversationView } from '@aiagent/view'
import { Component, DestroyRef, InjectionToken, inject } from '@angular/core'

/** The view of the page's agent. */
export const VIEW = new InjectionToken<ConversationView>('view')

@Component({
  selector: 'app-chat',
  // Its elements are laid out by the element around it.
  host: { style: 'display: contents' },
  template: `
    @let connection = snapshot().connection;
    @if (connection.state !== 'connected' || connection.isOffline) {
      <p role="status">
        {{ connection.isOffline ? 'You are offline.' : 'Chat is ' + connection.state + ' …' }}
        @if (connection.remedy === 'retry') {
          <button type="button" (click)="run(view.retry())">Try again</button>
        }
      </p>
    }
    <div class="scroll">
      <ol>
        @for (message of snapshot().messages; track message.id) {
          <li [class]="message.author" [attr.data-delivery]="message.delivery">
            <p>{{ message.content }}</p>
            @for (source of message.sources; track source.title) {
              <a [attr.href]="source.url">{{ source.title }}</a>
            }
            @for (option of message.options; track option) {
              <button
                type="button"
                [attr.aria-pressed]="option === message.chosenOption"
                [disabled]="!message.canChoose"
                (click)="run(view.choose(message.id, option))"
              >{{ option }}</button>
            }
            @if (message.canRate) {
              <button
                type="button"
                class="rating"
                [attr.aria-pressed]="message.rating === 'up'"
                (click)="run(view.rate(message.id, 'up'))"
              >Helpful</button>
            }
          </li>
        }
        @if (snapshot().isWorking) {
          <li class="working">The agent is writing …</li>
        }
      </ol>
    </div>
    <form (submit)="submit($event)">
      <input #input aria-label="Message" required [value]="snapshot().draft" (input)="view.setDraft(input.value)">
      <button type="submit">Send</button>
    </form>
  `,
})
// #region chat
export class Chat {
  readonly view = inject(VIEW)
  readonly snapshot = injectConversation(this.view)

  constructor() {
    this.run(this.view.start())
    inject(DestroyRef).onDestroy(() => void this.view.leave())
  }

  submit(event: Event): void {
    event.preventDefault()
    this.run(this.view.send())
  }

  /** An action of the view that fails sets `error` of the snapshot. */
  run(action: Promise<unknown>): void {
    action.catch(() => {})
  }
}
// #endregion
