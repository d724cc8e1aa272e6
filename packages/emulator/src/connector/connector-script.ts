/** Address of the script, as clients build it for the platforms `standalone` and `test`. */
export const CONNECTOR_PATH = '/ai-agent-connector-standalone/web/static/connector-ai-agent.js'

/**
 * The connector of the demonstration contact center, as a script: loaded by a tag in a page, and by a dynamic import
 * elsewhere. It has no exports, which a script tag does not support. It stores its component where clients look for it:
 * in the global `PlatformComponentService`.
 *
 * The user is in a call when the connector connects. Init parameters of the host change the behaviour: `callId` is the
 * id of the call, `defaultPortal` the portal to select automatically, `hiddenPortals` the portals not to offer (ids,
 * separated by commas).
 */
export const CONNECTOR_SCRIPT = `// The connector of a demonstration desk: what a real one does, with a call that is made up.
(() => {
  'use strict'

  const MINUTE = 60000

  const FIRST_CALL = {
    id: 'call-1001',
    caller: { name: 'Customer', phone: '+1 202 555 0143', email: 'customer@people.example', language: 'en-us' },
    lines: [
      { sender: 'agent', content: 'Good day, this is the service desk. How can I help?' },
      { sender: 'customer', content: 'Since the update my router has lost its connection.' },
      { sender: 'agent', content: 'Let me look that up for you.' },
    ],
  }

  /** Tells an agent everything about a call. */
  const takeCall = (hook, call) => {
    hook.setConversationId(call.id)
    hook.setCallerInfo(call.caller)
    hook.setUserContext({ desk: 'demonstration', callId: call.id })
    const start = Date.now() - call.lines.length * MINUTE
    call.lines.forEach((line, index) => {
      hook.addToTranscript({ ...line, timestamp: new Date(start + index * MINUTE) })
    })
  }

  const initParam = name => {
    const value = current && current.getInitParams()[name]
    return value === undefined || value === null ? '' : String(value).trim()
  }

  /** The agent that spoke to us last. Several may live on one page, so what has its own hook uses that. */
  let current = null

  globalThis.PlatformComponentService = {
    setHookContract(hook) {
      current = hook
    },

    /** The desk's own functions, for the page around it. */
    loadCustomHook(hook) {
      hook.takeCall = call => takeCall(hook, { ...FIRST_CALL, ...call })
    },

    /** Nothing beyond what the agent asks for anyway. */
    addCustomAuthScopes(scopes) {
      return scopes
    },

    /** Somebody sits at the desk and is in a call. */
    async initPlatform(hook) {
      current = hook
      hook.setPlatformAuthenticated(true)
      takeCall(hook, { ...FIRST_CALL, id: initParam('callId') || FIRST_CALL.id })
    },

    getPortalList(portals) {
      const hidden = initParam('hiddenPortals').split(',').map(id => id.trim())
      return portals.filter(portal => !hidden.includes(String(portal.id)))
    },

    getDefaultPortal(portals) {
      const wanted = initParam('defaultPortal')
      return portals.find(portal => String(portal.id) === wanted) || null
    },

    /** Answers are to be about this portal. */
    onPortalSelected(portal) {
      const tags = { portal: [String(portal.id)] }
      if (portal.department && portal.department.id) tags.department = [String(portal.department.id)]
      return tags
    },
  }
})()
`
