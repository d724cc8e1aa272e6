import { describe, expect, it } from 'vitest'
import { resolveEntities } from './entities.ts'

describe('resolveEntities()', () => {
  it.each([
    ['9&ndash;17, 5&nbsp;&euro;', '9\u201317, 5\u00a0\u20ac'],
    ['Gr&uuml;&szlig;e &amp; &Uuml;bung', 'Gr\u00fc\u00dfe & \u00dcbung'],
    ['&rarr; &hArr; &there4; &thetasym; &diams;', '\u2192 \u21d4 \u2234 \u03d1 \u2666'],
    ['&#8364; &#x20AC; &#X20ac; &#128512;', '\u20ac \u20ac \u20ac \u{1f600}'],
    ['&apos;&quot;&lt;&gt;', `'"<>`],
    ['&#0; &#xd800; &#x110000;', '\ufffd \ufffd \ufffd'],
  ])('resolves %s', (text, expected) => expect(resolveEntities(text)).toBe(expected))

  it.each(['&bogus;', '&copy', '?a=1&copy=2', '&NBSP;', '&;', '&#;', '&#x;', '&amp', '&constructor;', '&ngE;'])(
    'leaves %s as it was written',
    text => expect(resolveEntities(text)).toBe(text),
  )

  it('resolves once: a reference to an ampersand begins no other reference', () => {
    expect(resolveEntities('&amp;lt;')).toBe('&lt;')
  })
})
