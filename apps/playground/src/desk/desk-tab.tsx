import { useLayoutEffect, useRef } from 'preact/hooks'
import { showDesk } from '../../../../packages/emulator/desk/desk-panel.js'
import type { Conversation } from '../conversation/conversation.ts'
import { Empty } from '../ui/empty.tsx'

/** The desk of the emulator: the developer answers as the colleague to whom the agent hands over. */
export function DeskTab({ conversation: { service } }: { conversation: Conversation }) {
  const root = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { endpoint, environment, controls } = service
    if (root.current && controls) return showDesk(root.current, { url: endpoint, fetch: environment.fetch })
    return undefined
  }, [service])
  if (!service.controls)
    return <Empty text="The colleagues of a deployment answer elsewhere. The emulator has a desk." />
  return <div class="desk-tab" ref={root} />
}
