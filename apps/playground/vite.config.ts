import { fileURLToPath } from 'node:url'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'
import { CALLBACK_SCRIPT } from '../../packages/client/src/auth/login/callback-page.ts'

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const CALLBACK_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<title>Signing in</title>
<link rel="icon" href="./icon.svg">
</head>
<body>
<p>You can close this window.</p>
<script src="./signed-in.js"></script>
</body>
</html>
`

/** The page that logins return to. Its script is a file, since a strict policy forbids inline scripts. */
const callbackPage: Plugin = {
  name: 'callback-page',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'signed-in.html', source: CALLBACK_PAGE })
    this.emitFile({ type: 'asset', fileName: 'signed-in.js', source: CALLBACK_SCRIPT })
  },
  configureServer({ middlewares }) {
    middlewares.use('/signed-in.html', (_request, response) => void response.end(CALLBACK_PAGE))
    middlewares.use('/signed-in.js', (_request, response) => void response.end(CALLBACK_SCRIPT))
  },
}

// Relative addresses, so that the page runs in any folder of any static host, and in a frame of the docs.
export default defineConfig({
  root: file('.'),
  base: './',
  plugins: [callbackPage],
  resolve: { conditions: ['@aiagent/source', ...defaultClientConditions] },
  build: {
    outDir: file('dist'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // The policy of the served page allows files of its own origin only.
    assetsInlineLimit: 0,
    // The name that the older Vite of the site knows too.
    rollupOptions: { input: ['index.html', 'login.html', 'element.html'].map(file) },
  },
})
