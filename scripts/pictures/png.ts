import { deflateSync, inflateSync } from 'node:zlib'

/** A picture with four bytes for each pixel: red, green, blue and alpha. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])

/** The chunks of a PNG file, in order. */
function* chunksOf(file: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE.length; at < file.length; ) {
    const length = file.readUInt32BE(at)
    yield { type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) }
    at += length + 12
  }
}

/**
 * Decodes a PNG file as browsers write it: 8 bits a channel, with or without alpha, not interlaced.
 *
 * @throws {Error} for any other kind
 */
export function decodePng(file: Buffer): Picture {
  const chunks = [...chunksOf(file)]
  const header = chunks.find(({ type }) => type === 'IHDR')?.data
  if (header?.[8] !== 8 || (header[9] !== 2 && header[9] !== 6) || header[12] !== 0)
    throw new Error('The picture is not a PNG file of 8 bits with red, green and blue.')
  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  const channels = header[9] === 6 ? 4 : 3
  const packed = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)))
  const rows = unfilter(packed, width * channels, height, channels)
  const data = new Uint8Array(width * height * 4).fill(255)
  for (let pixel = 0; pixel < width * height; pixel++)
    for (let channel = 0; channel < channels; channel++)
      data[pixel * 4 + channel] = rows[pixel * channels + channel] ?? 0
  return { width, height, data }
}

function unfilter(packed: Buffer, rowLength: number, height: number, channels: number): Uint8Array {
  const rows = new Uint8Array(rowLength * height)
  for (let row = 0; row < height; row++) {
    const filter = packed[row * (rowLength + 1)]
    for (let column = 0; column < rowLength; column++) {
      const at = row * rowLength + column
      const left = column < channels ? 0 : (rows[at - channels] ?? 0)
      const above = row === 0 ? 0 : (rows[at - rowLength] ?? 0)
      const corner = row === 0 || column < channels ? 0 : (rows[at - rowLength - channels] ?? 0)
      const value = packed[row * (rowLength + 1) + 1 + column] ?? 0
      rows[at] = value + predict(filter, left, above, corner)
    }
  }
  return rows
}

/** The five filters of PNG. */
function predict(filter: number | undefined, left: number, above: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  if (filter !== 4) return 0
  const [toLeft, toAbove, toCorner] = [left, above, corner].map(value => Math.abs(left + above - corner - value))
  if ((toLeft ?? 0) <= (toAbove ?? 0) && (toLeft ?? 0) <= (toCorner ?? 0)) return left
  return (toAbove ?? 0) <= (toCorner ?? 0) ? above : corner
}

/** A part of a frame that differs from the frame before. */
interface Region {
  readonly x: number
  readonly y: number
  readonly picture: Picture
}

/** A frame of an animation, and for how long it is shown, in milliseconds. */
export interface Frame {
  readonly picture: Picture
  readonly ms: number
}

/**
 * Encodes an animated PNG that repeats endlessly. Frames after the first contain only what has changed.
 *
 * @param frames at least one; all of the same size
 */
export function encodeAnimation(frames: readonly Frame[]): Buffer {
  const [first] = frames
  if (!first) throw new Error('An animation needs a frame.')
  const { width, height } = first.picture
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const control = Buffer.alloc(8)
  control.writeUInt32BE(frames.length, 0)
  let sequence = 0
  const parts = [SIGNATURE, chunk('IHDR', header), chunk('acTL', control)]
  for (const [index, { picture, ms }] of frames.entries()) {
    const before = frames[index - 1]?.picture
    const region = before ? changedRegion(before, picture) : { x: 0, y: 0, picture }
    parts.push(chunk('fcTL', frameControl(sequence++, region, ms)))
    const packed = pack(region.picture)
    parts.push(before ? chunk('fdAT', Buffer.concat([number(sequence++), packed])) : chunk('IDAT', packed))
  }
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))])
}

function frameControl(sequence: number, { x, y, picture }: Region, ms: number): Buffer {
  const data = Buffer.alloc(26)
  for (const [index, value] of [sequence, picture.width, picture.height, x, y].entries())
    data.writeUInt32BE(value, index * 4)
  data.writeUInt16BE(ms, 20)
  data.writeUInt16BE(1000, 22)
  // Drawn over the frame before, which stays.
  data.set([0, 1], 24)
  return data
}

/** The smallest rectangle with all changes; what is the same within it is transparent. */
function changedRegion(before: Picture, after: Picture): Region {
  const { width, height } = after
  const old = new Uint32Array(before.data.buffer)
  const fresh = new Uint32Array(after.data.buffer)
  let [left, top, right, bottom] = [width, height, 0, 0]
  for (let at = 0; at < fresh.length; at++) {
    if (old[at] === fresh[at]) continue
    const x = at % width
    const y = Math.floor(at / width)
    left = Math.min(left, x)
    right = Math.max(right, x + 1)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y + 1)
  }
  if (right === 0) [left, top, right, bottom] = [0, 0, 1, 1]
  const data = new Uint32Array((right - left) * (bottom - top))
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const at = y * width + x
      if (old[at] !== fresh[at]) data[(y - top) * (right - left) + x - left] = fresh[at] ?? 0
    }
  return {
    x: left,
    y: top,
    picture: { width: right - left, height: bottom - top, data: new Uint8Array(data.buffer) },
  }
}

/** Rows without a filter: large areas of one colour compress best so. */
function pack({ width, height, data }: Picture): Buffer {
  const rows = Buffer.alloc((width * 4 + 1) * height)
  for (let row = 0; row < height; row++)
    rows.set(data.subarray(row * width * 4, (row + 1) * width * 4), row * (width * 4 + 1) + 1)
  return deflateSync(rows, { level: 9 })
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([number(data.length), body, number(crc(body))])
}

function number(value: number): Buffer {
  const data = Buffer.alloc(4)
  data.writeUInt32BE(value)
  return data
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

function crc(data: Buffer): number {
  let value = 0xffffffff
  for (const byte of data) value = (CRC_TABLE[(value ^ byte) & 255] ?? 0) ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}
