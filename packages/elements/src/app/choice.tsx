/** @jsxImportSource preact */
import type { PendingChoice } from '@aiagent/client'
import type { ConversationError } from '@aiagent/view'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { adoptStyles } from '../style/adopt-styles.ts'
import type { ChatSettings } from './chat-settings.ts'
import { ErrorPanel, LoadingPanel } from './panels.tsx'

export interface ChoiceProps {
  settings: ChatSettings
  gate: PendingChoice | undefined
  /** Why the last choice or sign-in failed. */
  error: ConversationError | undefined
}

/** What the user chooses, or the sign-in where there is no choice. Its code loads when it is needed. */
export function Choice(props: ChoiceProps) {
  const [Loaded, setLoaded] = useState<ComponentType<typeof props> | 'missing'>()
  useEffect(() => {
    import('./choice-panels.tsx').then(
      ({ ChoicePanel, STYLE }) => {
        adoptStyles(props.settings.root, STYLE)
        setLoaded(() => ChoicePanel)
      },
      () => setLoaded('missing'),
    )
  }, [])
  if (Loaded === 'missing') return <ErrorPanel settings={props.settings} remedy="reload" />
  return Loaded ? <Loaded {...props} /> : <LoadingPanel settings={props.settings} />
}
