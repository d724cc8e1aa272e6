import type { ChatStrings } from '../strings/chat-strings.ts'

export { ENLARGED_STYLE as STYLE } from '../style/enlarged-style.ts'

/**
 * A dialog with an image as large as the window allows. It is removed when it is closed, by Escape or a click. Loads with the first image
 * that is enlarged, and imports nothing that other files need: a bundler would make further files of that.
 */
export function createEnlarged(src: string, alt: string, strings: ChatStrings): HTMLDialogElement {
  const dialog = document.createElement('dialog')
  dialog.className = 'enlarged'
  dialog.setAttribute('aria-label', alt || strings.image)
  dialog.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  // It would close the launcher too.
  dialog.addEventListener('keydown', event => event.key === 'Escape' && event.stopPropagation())
  const close = document.createElement('button')
  close.type = 'button'
  close.className = 'icon-button'
  close.setAttribute('aria-label', strings.close)
  close.textContent = '\u2715'
  const image = document.createElement('img')
  Object.assign(image, { referrerPolicy: 'no-referrer', alt, src })
  dialog.append(close, image)
  return dialog
}
