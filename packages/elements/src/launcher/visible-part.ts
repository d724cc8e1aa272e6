/**
 * Keeps a panel that covers the page in the part of the window that the on-screen keyboard leaves, until the panel is closed: the
 * browser scrolls the page below the keyboard otherwise, and with it the heading out of view.
 */
export function fitVisiblePart(panel: HTMLElement): void {
  const viewport = window.visualViewport
  if (!viewport || !panel.matches(':modal')) return
  const stop = new AbortController()
  const { signal } = stop
  const fit = () => {
    // A user who has zoomed in moves over the panel.
    const isCut = viewport.scale === 1 && !signal.aborted
    panel.style.blockSize = isCut ? `${viewport.height}px` : ''
    panel.style.insetBlockStart = isCut ? `${viewport.offsetTop}px` : ''
  }
  fit()
  for (const name of ['resize', 'scroll'] as const) viewport.addEventListener(name, fit, { signal })
  panel.addEventListener(
    'close',
    () => {
      stop.abort()
      fit()
    },
    { signal },
  )
}
