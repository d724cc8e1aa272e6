import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { browserCommands, openBrowser } from './open-browser.ts'

const A = 'https://login.test/?a=1&b=%20'

describe('browserCommands', () => {
  it.each<[NodeJS.Platform, string | undefined, unknown[]]>([
    ['linux', undefined, [['xdg-open', A]]],
    ['darwin', ' ', [['open', A]]],
    ['win32', '', [['rundll32', 'url.dll,FileProtocolHandler', A]]],
    [
      'linux',
      'firefox',
      [
        ['firefox', A],
        ['xdg-open', A],
      ],
    ],
    [
      'linux',
      'firefox:w3m -N',
      [
        ['firefox', A],
        ['w3m -N', A],
        ['w3m', '-N', A],
        ['xdg-open', A],
      ],
    ],
    [
      'linux',
      'show %s --new',
      [
        ['show', A, '--new'],
        ['xdg-open', A],
      ],
    ],
    [
      'darwin',
      '/Apps/My Browser',
      [
        ['/Apps/My Browser', A],
        ['/Apps/My', 'Browser', A],
        ['open', A],
      ],
    ],
    [
      'win32',
      'C:\\b.exe',
      [
        ['C:\\b.exe', A],
        ['rundll32', 'url.dll,FileProtocolHandler', A],
      ],
    ],
  ])('on %s with BROWSER=%j', (platform, chosen, commands) => {
    expect(browserCommands(A, { platform, env: { BROWSER: chosen } })).toEqual(commands)
  })
})

describe('openBrowser', () => {
  const folders: string[] = []
  afterEach(async () => {
    for (const path of folders.splice(0)) await rm(path, { recursive: true })
  })

  it('starts the first command that is there with the address as it is, and no other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'aiagent-browser-'))
    folders.push(folder)
    const script = join(folder, 'browser')
    await writeFile(script, '#!/bin/sh\nprintf %s "$1" > "$0.tmp" && mv "$0.tmp" "$0.shown"\n')
    await chmod(script, 0o755)
    expect(
      await openBrowser([
        [join(folder, 'missing'), A],
        [script, A],
        [script, 'never'],
      ]),
    ).toBe(true)
    await vi.waitFor(async () => expect(await readFile(`${script}.shown`, 'utf8')).toBe(A))
  })

  it('says so when none is there', async () => {
    expect(await openBrowser([['/no/such/browser', A]])).toBe(false)
  })
})
