/** @jsxImportSource preact */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { adoptStyles } from '../style/adopt-styles.ts'
import type { ChoiceProps } from './choice-panels.tsx'
import { ErrorPanel, LoadingPanel } from './panels.tsx'

/** What the user chooses, or the sign-in where there is no choice. Its code loads when it is needed. */
export function Choice(props: ChoiceProps) {
  const [Loaded, setLoaded] = useState<ComponentType<ChoiceProps> | 'missing'>()
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
