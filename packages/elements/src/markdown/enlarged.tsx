/** @jsxImportSource preact */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { adoptStyles } from '../style/adopt-styles.ts'
import { ENLARGED_STYLE } from '../style/enlarged-style.ts'
import type { EnlargedProps } from './picture.tsx'

/** An image as large as the window allows, above the page, until Escape or a click. Loads with the first image that is enlarged. */
export function Enlarged({ src, alt, strings, onClose }: EnlargedProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const shown = dialog.current as HTMLDialogElement
    adoptStyles(shown.getRootNode() as ShadowRoot, ENLARGED_STYLE)
    shown.showModal()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape and the button do the same
    <dialog
      class="enlarged"
      aria-label={alt || strings.image}
      ref={dialog}
      onClick={() => dialog.current?.close()}
      onClose={onClose}
      onKeyDown={event => event.key === 'Escape' && event.stopPropagation()}
    >
      <button type="button" class="icon-button" aria-label={strings.close}>
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M6 6l12 12 M18 6 6 18" />
        </svg>
      </button>
      <img src={src} alt={alt} referrerpolicy="no-referrer" />
    </dialog>
  )
}
