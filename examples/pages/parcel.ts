// A message that the host draws in <ai-agent-chat>: the track of a parcel, from the data that the service sends with a message.
import '@aiagent/elements'
import type { ConversationMessage } from '@aiagent/view'

// #region render
/** The way of a parcel as a list; undefined for messages without one, which are shown as usual. */
function parcelOf({ data, content }: ConversationMessage): Node | undefined {
  const { stops } = Object(data['parcel']) as { stops?: unknown }
  if (!Array.isArray(stops)) return undefined
  const track = document.createElement('section')
  const title = document.createElement('p')
  title.textContent = content
  const list = document.createElement('ol')
  for (const stop of stops) {
    const item = document.createElement('li')
    item.textContent = String(stop)
    list.append(item)
  }
  track.append(title, list)
  return track
}

const chat = document.querySelector('ai-agent-chat')
if (chat) chat.renderMessage = parcelOf
// #endregion
