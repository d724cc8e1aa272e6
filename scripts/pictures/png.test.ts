import { describe, expect, it } from 'vitest'
import { decodePng, encodeAnimation, type Picture } from './png.ts'

const picture = (paint: (x: number, y: number) => number): Picture => {
  const pixels = Uint32Array.from({ length: 12 }, (_, at) => paint(at % 4, Math.floor(at / 4)))
  return { width: 4, height: 3, data: new Uint8Array(pixels.buffer) }
}

describe('an animation', () => {
  const first = picture((x, y) => 0xff000000 + x * 1000 + y)
  const second = picture((x, y) => (x === 2 && y === 1 ? 0xffffffff : 0xff000000 + x * 1000 + y))

  it('contains the first frame whole, as a picture that every program reads', () => {
    const file = encodeAnimation([
      { picture: first, ms: 500 },
      { picture: second, ms: 500 },
    ])
    expect(decodePng(file)).toEqual(first)
  })

  it('contains of a later frame only what has changed', () => {
    const file = encodeAnimation([
      { picture: first, ms: 500 },
      { picture: second, ms: 250 },
    ])
    const control = file.lastIndexOf('fcTL') + 4
    const fields = [0, 1, 2, 3, 4].map(index => file.readUInt32BE(control + index * 4))
    // Sequence, width, height, x and y.
    expect(fields).toEqual([1, 1, 1, 2, 1])
    expect(file.readUInt16BE(control + 20)).toBe(250)
  })

  it('rejects a file that is not such a picture', () => {
    expect(() => decodePng(Buffer.from('not a picture at all'))).toThrow()
  })
})
