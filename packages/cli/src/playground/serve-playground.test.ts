import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type PlaygroundServer, servePlayground } from './serve-playground.ts'

describe('the playground of a clone', () => {
  let folder: string
  let server: PlaygroundServer | undefined
  let lines: string[]
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'playground-'))
    lines = []
  })
  afterEach(async () => {
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const serve = async (build: () => Promise<void>): Promise<string> => {
    const prepare = (onBuild: () => void) => {
      onBuild()
      return build()
    }
    const options = { endpoint: 'http://127.0.0.1:9', isEmulator: true, show: (line: string) => void lines.push(line) }
    server = await servePlayground(options, { folder, prepare })
    return server?.url ?? ''
  }
  const write = () => writeFileSync(join(folder, 'index.html'), '<html><head></head><body>Built</body></html>')

  it('[PLAY-08] is built with its first request, once, and says so', async () => {
    const finish: (() => void)[] = []
    const url = await serve(() => new Promise(resolve => finish.push(resolve)))
    expect(lines).toEqual([])
    const answers = [fetch(url), fetch(url)]
    while (finish.length === 0) await new Promise(setImmediate)
    write()
    finish[0]?.()
    const texts = await Promise.all(answers.map(async answer => (await answer).text()))
    for (const text of texts) expect(text).toContain('Built')
    expect((await fetch(url)).status).toBe(200)
    expect(finish).toHaveLength(1)
    expect(lines).toEqual(['Building the playground for its first request. This takes a few seconds.'])
  })

  it.each(['evil.test', '127.0.0.1.evil.test', 'localhost@evil.test'])(
    '[SEC-96] is not shown to a page whose host name resolves to this machine: %s',
    async host => {
      write()
      const url = await serve(async () => {})
      const status = (named: string) =>
        new Promise(resolve => {
          get(url, { headers: { Host: named } }, answer => resolve(answer.resume().statusCode))
        })
      expect(await status(host)).toBeOneOf([400, 403])
      expect(await status('localhost:9')).toBe(200)
    },
  )

  it('[PLAY-08] answers with the reason when it cannot be built, and builds it with the next request', async () => {
    let attempts = 0
    const url = await serve(async () => {
      attempts++
      if (attempts === 1) throw new Error('The playground could not be built: no space left.')
      write()
    })
    const failed = await fetch(url)
    expect([failed.status, await failed.text()]).toEqual([500, 'The playground could not be built: no space left.'])
    expect(await (await fetch(url)).text()).toContain('Built')
    expect(lines).toHaveLength(2)
  })
})
