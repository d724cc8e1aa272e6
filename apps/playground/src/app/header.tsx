import { useState } from 'preact/hooks'
import type { Conversation } from '../conversation/conversation.ts'
import type { Playground } from './playground.ts'
import { nextTheme, readTheme, showTheme, type Theme } from './theme.ts'

/** Scenarios, service and theme. */
export function Header({ playground, conversation }: { playground: Playground; conversation: Conversation }) {
  const { scenario, service } = conversation
  return (
    <header class="header">
      <h1 class="brand">
        <img src="./icon.svg" alt="" width="22" height="22" />
        <span>AI Agent playground</span>
      </h1>
      <nav class="scenarios" aria-label="Scenarios">
        {playground.scenarios.map(each => (
          <button
            key={each.id}
            type="button"
            title={each.description}
            aria-pressed={each === scenario}
            onClick={() => playground.openScenario(each)}
          >
            {each.title}
          </button>
        ))}
      </nav>
      <div class="header-end">
        <ServiceSwitch playground={playground} endpoint={service.endpoint} name={service.name} />
        <ThemeButton />
      </div>
    </header>
  )
}

interface ServiceSwitchProps {
  playground: Playground
  endpoint: string
  name: string
}

function ServiceSwitch({ playground, endpoint, name }: ServiceSwitchProps) {
  const { servedEndpoint } = playground
  if (servedEndpoint === undefined)
    return (
      <span class="service" title="The emulator of the service runs in this page. No request leaves it.">
        Service: {name}
      </span>
    )
  return (
    <label class="service">
      Service
      <select
        value={endpoint === servedEndpoint ? 'served' : 'page'}
        onChange={event => playground.useService(event.currentTarget.value === 'page')}
      >
        <option value="served">{new URL(servedEndpoint).host}</option>
        <option value="page">in this page</option>
      </select>
    </label>
  )
}

const THEME_NAMES: Readonly<Record<Theme, string>> = {
  auto: 'Theme: as the system',
  light: 'Theme: light',
  dark: 'Theme: dark',
}
const THEME_SIGNS: Readonly<Record<Theme, string>> = { auto: '◐', light: '☀', dark: '☾' }

function ThemeButton() {
  const [theme, setTheme] = useState(readTheme)
  const change = () => {
    const next = nextTheme(theme)
    showTheme(next)
    setTheme(next)
  }
  return (
    <button
      type="button"
      class="icon-button"
      title={THEME_NAMES[theme]}
      aria-label={THEME_NAMES[theme]}
      onClick={change}
    >
      {THEME_SIGNS[theme]}
    </button>
  )
}
