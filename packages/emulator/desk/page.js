import { showDesk } from './desk-panel.js'

const { title } = document
const root = document.getElementById('desk')
if (root)
  showDesk(root, {
    url: location.origin,
    fetch: (input, init) => fetch(input, init),
    onWaiting: count => {
      document.title = count === 0 ? title : `(${count}) ${title}`
    },
  })
