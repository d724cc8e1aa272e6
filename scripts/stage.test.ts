import { describe, expect, it } from 'vitest'
import { packedLinks, publishedManifest } from './stage.ts'

const linkTo = (path: string) => (path === 'packages/client/PROTOCOL.md' ? 'PROTOCOL.md' : undefined)

describe('packedLinks', () => {
  const markdown =
    'See [the protocol](./PROTOCOL.md#a), [stores](../../docs/guide/stores.md#b), [the emulator](../emulator/README.md), ' +
    '[web](https://a.test) and [below](#c).\n\n![A chat](../../docs/pictures/chat.png)\n\n<!-- snippet: a.ts -->\n```md\n[x](./x.md)\n```\n'

  it('names documents outside of the package, and leaves out pictures, while the address of the repository is unknown', () => {
    expect(packedLinks(markdown, 'packages/client', linkTo)).toBe(
      'See [the protocol](./PROTOCOL.md#a), stores (`docs/guide/stores.md` in the repository), the emulator (`@aiagent/emulator`), ' +
        '[web](https://a.test) and [below](#c).\n\n\n\n```md\n[x](./x.md)\n```\n',
    )
  })

  it('leads to the repository where its address is known', () => {
    const text = packedLinks(markdown, 'packages/client', linkTo, 'https://code.test/a/b#readme')
    expect(text).toContain('[stores](https://code.test/a/b/blob/main/docs/guide/stores.md#b)')
    expect(text).toContain('![A chat](https://code.test/a/b/blob/main/docs/pictures/chat.png)')
    expect(text).toContain('[the protocol](./PROTOCOL.md#a)')
  })
})

describe('publishedManifest', () => {
  const manifest = {
    name: '@aiagent/client',
    version: '1.0.0',
    files: ['dist', 'src', '!src/**/*.test.ts'],
    sideEffects: ['./src/index.ts', './dist/index.js'],
    exports: { '.': { '@aiagent/source': './src/index.ts', default: './dist/index.js' } },
    devDependencies: { a: '1' },
  }
  const root = { name: 'root', version: '1.0.0' }

  it('leaves out the sources and the dependencies of development', () => {
    expect(publishedManifest(manifest, root)).toEqual({
      name: '@aiagent/client',
      version: '1.0.0',
      files: ['dist'],
      sideEffects: ['./dist/index.js'],
      exports: { '.': { default: './dist/index.js' } },
    })
  })

  it('takes the address of the repository from the root', () => {
    const { repository, homepage } = publishedManifest(manifest, {
      ...root,
      repository: { type: 'git', url: 'git+https://code.test/a/b.git' },
      homepage: 'https://code.test/a/b#readme',
    })
    expect(repository).toEqual({ type: 'git', url: 'git+https://code.test/a/b.git', directory: 'packages/client' })
    expect(homepage).toBe('https://code.test/a/b#readme')
  })
})
