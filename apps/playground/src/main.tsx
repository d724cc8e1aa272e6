import './styles/base.css'
import './styles/inspector.css'
import './styles/faults.css'
import '../../../packages/emulator/desk/desk.css'
// Last: it decides which parts a narrow page shows.
import './styles/layout.css'
import { render } from 'preact'
import { App } from './app/app.tsx'
import { createPlayground } from './app/playground.ts'
import { readTheme, showTheme } from './app/theme.ts'

showTheme(readTheme())
const root = document.getElementById('app')
if (root) render(<App playground={createPlayground()} />, root)
