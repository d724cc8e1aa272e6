import { browserStore } from '../ui/browser-store.ts'

/** Colours of the page. */
export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'playground-theme'
const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

/** The theme that was chosen in this browser. */
export function readTheme(): Theme {
  const stored = browserStore('localStorage')?.getItem(KEY)
  return THEMES.find(theme => theme === stored) ?? 'auto'
}

/** Applies and stores a theme. */
export function showTheme(theme: Theme): void {
  try {
    browserStore('localStorage')?.setItem(KEY, theme)
  } catch {
    // A full store costs the choice after a reload.
  }
  document.documentElement.dataset['theme'] = theme
}

/** The theme that follows another one. */
export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto'
}
