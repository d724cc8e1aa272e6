import { assertType, describe, it } from 'vitest'
import type { Capability, ExtensionRole, ExtensionSignal } from '../index.ts'

describe('types of the extension', () => {
  it('Capability names what a service may announce', () => {
    assertType<Capability>('receipts')
    // @ts-expect-error misspelt
    assertType<Capability>('receipt')
  })

  it('ExtensionRole names the frames of the extension only', () => {
    assertType<ExtensionRole>('pong')
    // @ts-expect-error a role of the plain wire
    assertType<ExtensionRole>('heartbeat')
  })

  it('ExtensionSignal carries what its kind needs', () => {
    assertType<ExtensionSignal>({ kind: 'receipt', messageId: 'a', duplicate: false })
    assertType<ExtensionSignal>({ kind: 'resumed', complete: true })
    // @ts-expect-error a receipt names its frame
    assertType<ExtensionSignal>({ kind: 'receipt', duplicate: false })
  })
})
