import { PassThrough, Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLines } from './line-reader.ts'

const never = new AbortController().signal

async function collect(chunks: Iterable<string | Buffer>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(Readable.from(chunks, { objectMode: false }), never)) lines.push(line)
  return lines
}

describe('readLines', () => {
  it.each([
    ['nothing', [], []],
    ['a last line without an end', ['a\nb'], ['a', 'b']],
    ['empty lines', ['\n\na\n'], ['', '', 'a']],
    ['lines of Windows', ['a\r\n', 'b\r', '\nc'], ['a', 'b', 'c']],
  ])('reads %s', async (_what, chunks, lines) => {
    expect(await collect(chunks)).toEqual(lines)
  })

  it('gives the same lines wherever the input is cut, also within a character', async () => {
    const line = fc.string({ unit: 'grapheme' }).map(text => text.replace(/[\r\n]/g, ''))
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(200)), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map(each => `${each}\n`).join(''))
        const places = [0, ...cuts.map(cut => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
        const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end))
        expect(await collect(chunks.filter(chunk => chunk.length > 0))).toEqual(lines)
      }),
    )
  })

  it('reads a very long line that comes in many pieces', async () => {
    const pieces = Array.from({ length: 2_000 }, () => 'x'.repeat(500))
    expect((await collect(pieces)).map(line => line.length)).toEqual([1_000_000])
  })

  it('ends without an error when it is given up while it waits', async () => {
    const controller = new AbortController()
    const input = new PassThrough()
    input.write('a\n')
    const lines = readLines(input, controller.signal)
    expect(await lines.next()).toEqual({ value: 'a', done: false })
    const next = lines.next()
    controller.abort()
    expect(await next).toEqual({ value: undefined, done: true })
  })

  it('passes on that the input broke', async () => {
    const input = new PassThrough()
    const next = readLines(input, never).next()
    input.destroy(new Error('Broken pipe'))
    await expect(next).rejects.toThrow('Broken pipe')
  })
})
