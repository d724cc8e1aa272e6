/** What an empty list says. */
export function Empty({ text }: { text: string }) {
  return <p class="empty">{text}</p>
}
