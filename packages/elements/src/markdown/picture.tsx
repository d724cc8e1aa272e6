/** @jsxImportSource preact */
import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import type { MarkdownOptions } from './markdown.tsx'

/** What an enlarged image needs. */
export interface EnlargedProps {
  src: string
  alt: string
  strings: MarkdownOptions['strings']
  onClose: () => void
}

interface PictureProps extends Pick<EnlargedProps, 'src' | 'alt'> {
  options: MarkdownOptions
}

/** An image of an answer: a button that enlarges it, unless it is in a link. */
export function Picture({ src, alt, options: { strings, isLinked } }: PictureProps) {
  const [{ Enlarged }, setEnlarged] = useState<{ Enlarged?: ComponentType<EnlargedProps> }>({})
  const image = <img src={src} alt={alt} loading="lazy" decoding="async" referrerpolicy="no-referrer" part="image" />
  if (isLinked) return image
  const enlarge = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    // Not every engine does so at a click; the focus returns to it.
    currentTarget.focus()
    import('./enlarged.tsx').then(setEnlarged, () => {
      // Without its code, which may be missing, the browser shows the image.
      open(src, '_blank', 'noopener,noreferrer')
    })
  }
  return (
    <>
      <button type="button" class="picture" title={strings.enlarge} aria-haspopup="dialog" onClick={enlarge}>
        {image}
        <span class="sr"> ({strings.enlarge})</span>
      </button>
      {Enlarged && <Enlarged src={src} alt={alt} strings={strings} onClose={() => setEnlarged({})} />}
    </>
  )
}
