/** Every entry of protocol, client and view that needs neither the DOM nor Node, as a host without both sees it. */
import * as client from '@aiagent/client'
import * as pkce from '@aiagent/client/pkce'
import * as native from '@aiagent/client/react-native'
import * as unstorage from '@aiagent/client/unstorage'
import * as protocol from '@aiagent/protocol'
import * as view from '@aiagent/view'

export const entries = [client, pkce, native, unstorage, view, protocol]
export const create = (endpoint: string): client.AiAgent => new client.AiAgent({ id: 'help', endpoint })
