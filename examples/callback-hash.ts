// The hash of the callback page's inline script, for a content security policy.
import assert from 'node:assert/strict'
// #region hash
import { createHash } from 'node:crypto'
import { CALLBACK_PAGE } from '@aiagent/client/pkce'

const script = /<script>([\s\S]*?)<\/script>/.exec(CALLBACK_PAGE)?.[1] ?? ''
const policy = `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`
// #endregion

assert.match(policy, /^script-src 'sha256-[\w+/]{43}='$/)
assert.match(script, /postMessage/)
