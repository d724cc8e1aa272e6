/** @jsxImportSource preact */
import { Component } from 'preact'
import type { ChatStrings } from '../strings/chat-strings.ts'
import { adoptStyles } from '../style/adopt-styles.ts'

interface PictureProps {
  src: string
  alt: string
  strings: ChatStrings
  isLinked: boolean | undefined
}

/** An image of an answer: a button that enlarges it, unless it is in a link. */
export class Picture extends Component<PictureProps> {
  #enlarged: HTMLElement | undefined

  override componentWillUnmount(): void {
    this.#enlarged?.remove()
  }

  async #enlarge(button: HTMLElement): Promise<void> {
    const { src, alt, strings } = this.props
    // Not every engine does so at a click; the focus returns to it.
    button.focus()
    // Without its code, which may be missing, the browser shows the image.
    const loaded = await import('./enlarged.ts').catch(() => void open(src, '_blank', 'noopener,noreferrer'))
    if (!loaded || !button.isConnected) return
    const root = button.getRootNode() as ShadowRoot
    adoptStyles(root, loaded.STYLE)
    const dialog = loaded.createEnlarged(src, alt, strings)
    root.querySelector('.frame')?.append(dialog)
    dialog.showModal()
    this.#enlarged = dialog
  }

  render({ src, alt, strings, isLinked }: PictureProps) {
    const image = <img src={src} alt={alt} loading="lazy" decoding="async" referrerpolicy="no-referrer" part="image" />
    if (isLinked) return image
    return (
      <button
        type="button"
        class="picture"
        title={strings.enlarge}
        aria-haspopup="dialog"
        onClick={event => this.#enlarge(event.currentTarget)}
      >
        {image}
        <span class="sr"> ({strings.enlarge})</span>
      </button>
    )
  }
}
