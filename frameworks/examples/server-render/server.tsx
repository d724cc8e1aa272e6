import { createServer, type Server } from 'node:http'
import { StrictMode } from 'react'
import { renderToPipeableStream } from 'react-dom/server'
import { App } from './app.tsx'

/** A server that renders the page for each request, as Next does. `files` has the bundled `/client.js`, and `/chat.css`. */
export function createPageServer(endpoint: string, files: Readonly<Record<string, string>>): Server {
  return createServer((request, response) => {
    const file = files[request.url ?? '']
    if (file !== undefined) {
      response.setHeader('content-type', request.url?.endsWith('.css') ? 'text/css' : 'text/javascript')
      response.end(file)
      return
    }
    const { pipe } = renderToPipeableStream(
      <StrictMode>
        <App endpoint={endpoint} />
      </StrictMode>,
      {
        bootstrapScriptContent: `var ENDPOINT = ${JSON.stringify(endpoint)}`,
        bootstrapModules: ['/client.js'],
        onShellReady() {
          response.setHeader('content-type', 'text/html; charset=utf-8')
          pipe(response)
        },
        onShellError(error) {
          response.writeHead(500).end(String(error))
        },
      },
    )
  })
}
