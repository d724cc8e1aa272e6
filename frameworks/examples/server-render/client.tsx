import { StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { App } from './app.tsx'

declare global {
  /** Address of the service, which the server wrote into the page. */
  var ENDPOINT: string
}

hydrateRoot(
  document,
  <StrictMode>
    <App endpoint={ENDPOINT} />
  </StrictMode>,
)
