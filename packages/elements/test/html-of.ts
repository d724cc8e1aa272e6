/** Nodes as HTML, for comparisons: attributes that every such element has are left out. */
export function htmlOf(node: unknown): string {
  if (Array.isArray(node)) return node.map(htmlOf).join('')
  if (node === null || node === undefined || typeof node === 'boolean') return ''
  if (typeof node !== 'object') return escaped(String(node))
  const { type, props } = node as { type: unknown; props: Record<string, unknown> }
  if (typeof type === 'function') return htmlOf(type(props))
  const { children, ...attributes } = props
  const written = Object.entries(attributes).flatMap(([name, value]) =>
    NAMED.includes(name) && value !== undefined && value !== false
      ? [` ${name}${value === true ? '' : `="${value}"`}`]
      : [],
  )
  return type === 'br' || type === 'hr' || type === 'input'
    ? `<${type}${written.join('')}>`
    : isHidden(attributes)
      ? ''
      : typeof type === 'string'
        ? `<${type}${written.join('')}>${htmlOf(children)}</${type}>`
        : htmlOf(children)
}

const NAMED = ['href', 'src', 'alt', 'start', 'checked', 'dir']
const isHidden = ({ class: name }: Record<string, unknown>) => name === 'sr'
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
