/** @jsxImportSource preact */
import type { ConversationRemedy } from '@aiagent/view'
import type { ComponentChildren } from 'preact'
import { type ChatSettings, shownByView } from './chat-settings.ts'
import { Icon, type IconName } from './icons.tsx'

interface PanelProps {
  /** Whether its text is said when it appears. */
  isAlert?: boolean
  icon?: IconName
  title: string
  text?: string | undefined
  children?: ComponentChildren
}

/** Stands in the place of the conversation. */
export function Panel({ isAlert = false, icon, title, text, children }: PanelProps) {
  return (
    <section class="panel" part="panel" aria-label={title} tabIndex={-1} data-focus>
      <div class="panel-body">
        {icon && (
          <span class="panel-icon">
            <Icon name={icon} />
          </span>
        )}
        <h3 class="panel-title">{title}</h3>
        {text && (
          <p class="panel-text" role={isAlert ? 'alert' : undefined}>
            {text}
          </p>
        )}
        {children}
      </div>
    </section>
  )
}

/** The agent could not be initialized. */
export function ErrorPanel({ settings, remedy }: { settings: ChatSettings; remedy: ConversationRemedy }) {
  const { strings, view, supportEmail } = settings
  const mustReload = remedy === 'reload'
  const canRetry = mustReload || remedy === 'retry'
  return (
    <Panel isAlert icon="alert" title={strings.errorTitle} text={canRetry ? strings.errorText : strings.errorSetup}>
      <div class="panel-actions">
        {canRetry && (
          <button
            type="button"
            class="button primary"
            part="button primary-button"
            onClick={() => (mustReload ? location.reload() : shownByView(view.retry()))}
          >
            {mustReload ? strings.reload : strings.retryStart}
          </button>
        )}
        {supportEmail && (
          <a class="button outline" part="button" href={`mailto:${supportEmail}`}>
            {strings.email}
          </a>
        )}
      </div>
    </Panel>
  )
}

/** The choices of a contact center are being loaded. */
export function LoadingPanel({ settings: { strings } }: { settings: ChatSettings }) {
  return (
    <section class="panel" part="panel" aria-label={strings.connecting} tabIndex={-1} data-focus>
      <div class="panel-body">
        <span class="spinner" />
        <p class="panel-text">{strings.connecting}</p>
      </div>
    </section>
  )
}
