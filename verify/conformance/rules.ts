/**
 * What proves a rule: a scenario of this folder; a test of a whole page, which `npm run pages` runs; or any test
 * with the rule's id in its title. Rules of sign-in need a real browser; those of trust (SEC), reliability (REL), the
 * conversation view (VIEW) and adoption (ADOPT) have their tests next to the code.
 */
export type Proof = 'scenario' | 'page' | 'test'

/** One checkable statement about the library, the service, or both. */
export interface Rule {
  readonly id: string
  readonly text: string
  readonly proof: Proof
}

/** Every rule's text, by area: the rows of the requirements, then OWN (decisions), SEC (trust), REL (reliability), VIEW,
 * PLAY (the playground) and ADOPT (doctor, tests of talks, telemetry).
 */
const TEXTS: Readonly<Record<string, string>> = {
  'CFG-01':
    '`id` and `endpoint` are required; a missing or malformed one is a clear error from the constructor, naming the field; the endpoint may be http(s)://, ws(s):// or a bare host (ws maps to http and wss to https for REST)',
  'CFG-02':
    '`auth` takes a config object, an AuthProvider (`getToken()`), an AuthStrategy (full lifecycle) or nothing (anonymous); anything else is an AuthError',
  'CFG-03':
    '`autoConnect` (default false) connects after `initialize()` completes, also after a portal pipeline that waited for a choice',
  'CFG-04': '`maxQueueSize` default 1000',
  'CFG-05':
    '`maxReconnectAttempts` default Infinity; when they are used up the state is CLOSED, one `error` event says so, no timer is left, and a later connect() starts again',
  'CFG-06': '`baseReconnectDelay` default 1000 ms, `maxReconnectDelay` default 30000 ms',
  'CFG-07':
    '`logger` (without it the agent creates its own), `logLevel` (default INFO; DEBUG exists), `enableLogging` (default true: console output)',
  'CFG-08': '`transcriptConfig` controls whether and which messages the transcript keeps',
  'CFG-09':
    "`cache` defaults: enabled true, storageType 'session', ttl 300000 ms; 'local', 'memory' and a custom adapter also work; it holds agent details, portals, my portals, portal details, profiles, agents by portal and masking patterns",
  'CFG-10':
    '`sessionId` (string or safe integer) given: no session call at initialization, the id is used as it is (blanks around it apart); an unusable one is rejected',
  'CFG-11':
    '`initParams` as in the INIT rows; `getInitParams()` returns all keys, well-known or not; `getQueryParams()` is its alias',
  'CFG-12':
    '`context` is merged with `initialize({ context })` (the latter wins), used for portal/profile auto-select and stored for reconnect',
  'CFG-13':
    "`connector.connectorUrl` overrides the connector script's URL; `connector` carries the host's environment label",
  'CFG-14':
    "`authScheme` default 'popup', seen in login and in logout; applies only to the PKCE config that the library builds; ignored where the host gives a full PKCEAuthConfig",
  'CFG-15': '`scopes` is not a field of AiAgentConfig (a type error; at run time it is ignored with a warning)',
  'INIT-01':
    "Flow A (`isDefaultAgent` not 'true'): portals are intersected with `agentDetails.portals`; `id` replaces a missing `agentid`; `agentid` never changes which agent's details are fetched",
  'INIT-02': '`departmentId` is the fallback in Flow B where `agentDetails.departmentId` is missing',
  'INIT-03':
    "`portalIds` (comma-separated): no list call (getMyPortals, getPortals) and no connector hooks, minimal portal objects are used; the chosen one's details are still fetched",
  'INIT-04':
    'short URL template: `templateName`, then `shortUrlTemplate`, then `vendortemplate`; sent as `shortUrlTemplate` with every portal manager call',
  'INIT-05':
    "`authType` (trimmed, ignoring case): 'customer' gives the customer profile mode, no PUT and customer details; 'user' gives user profiles and the PUT",
  'INIT-06':
    "`scopes` (comma-separated) are used exactly as given: no defaults, no extraScopes, no platform additions; a host PKCE config's own scopes win; getAuthScopes() equals the given list (a permission prefix and OpenID's own scopes appear on the wire only)",
  'INIT-07': '`userid` keys the portal cache',
  'INIT-08': "`isDefaultAgent` 'true' turns on Flow B",
  'INIT-09': '`vendorclientid` is the client id of the built PKCE config',
  'INIT-10':
    "`platform` selects the connector script; it loads for every set value, 'standalone' and 'test' too; 'test' maps to the standalone connector's path; neither a base for the environment nor a connectorUrl is a clear error",
  'INIT-11': "`env`: 'dev', 'qa', 'non-prod', 'prod'; anything else is 'prod'",
  'FLOW-01':
    "`initialize()` fetches deployment information and agent details over REST, then opens the session; with a contact-center setup (`portalIds` non-blank, or `agentDetails.portals` non-empty, or `isDefaultAgent` 'true') the pipeline (portals, agents where asked, profiles) ends before any session or WebSocket is opened",
  'FLOW-02': 'close code 1000 or 1005: no reconnect is scheduled',
  'FLOW-03':
    'any other close code: reconnect with exponential backoff between base and max delay, up to maxReconnectAttempts',
  'FLOW-04':
    '`send()` while disconnected queues up to maxQueueSize; beyond it the call rejects with a clear error and nothing already queued is lost',
  'FLOW-05':
    'after an open with queued messages the queue is flushed in order, with the 5 ms delay between bursts of 16 (a wake-up that comes late, as in a hidden tab, sends what the elapsed time allows), then `queueFlushed` is emitted once with the count',
  'FLOW-06': 'agent not authenticated (`isAuthenticated` false): user/customer details are not fetched',
  'FLOW-07':
    '`setContext()` merges into the cached context; with `sendImmediately` only the attributes that changed are sent; no change, no frame',
  'FLOW-08':
    'context survives a reload (session storage): `getContext()` returns it and the next session POST carries it; an ordinary reconnect sends nothing, the session has it; `removeContext()`',
  'FLOW-09':
    '`restartConnection()` makes a new session, with the context in the session POST; the stored context goes over the WebSocket only where the caller supplies an existing sessionId',
  'FLOW-10':
    '`selectPortal()`, `selectAgent()`, `selectUserProfile()` reject with InitializationPipelineError when the pipeline fails',
  'FLOW-11':
    "several profiles: auto-select from session storage, then `vendor_personalization_profile_id` in the context, then `isLastUsedInPortal`, then the portal's default; else `profilesAvailable`",
  'FLOW-12':
    "`vendor_portal_id` / `vendor_personalization_profile_id` in the context (plain string or `{ value }`) auto-select portal / profile; a connector's default portal goes first (decision)",
  'FLOW-13':
    "a selected profile (auto or by `selectUserProfile()`) is written to session storage under `v2_{rigelPrefix}selectedProfile-{portalId}` as `{ name, id, isLastUsedInPortal, portalId }`; the prefix is `deploymentInfo.tenant_identifier`, else the endpoint URL's first path segment",
  'FLOW-14': 'after the profile PUT succeeds the cached getUserProfiles responses are invalidated',
  'FLOW-15':
    '`updateUserProfile()` clears every profile cache entry (`vendor_profiles_…`) of this agent and the getUserProfiles responses, also where the PUT fails or is skipped, so that the next run refetches',
  'FLOW-16':
    'the connector picks the portal by `getDefaultPortal`: the full processed list is stored, and `initialized` carries it as `availablePortals`',
  'FLOW-17':
    'once agent details are loaded their `languageCode` is set on ApiHelper and the anonymous strategy is re-scoped with the resolved scope list',
  'FLOW-18':
    '`cache.enabled` false: no deployment-info cache, no REST response cached (in memory either), no pipeline profile cache; context lives in memory only; the anonymous token has its own switch',
  'FLOW-19':
    '`enableDataMasking` true and deployment version 21.22.2 or later (semver): patterns load during init, `send()` masks outbound customer/human messages, `maskContent()` masks on demand; a lower, missing or unreadable version makes no pattern call',
  'FLOW-20': 'an empty message content is left out of the payload',
  'FLOW-21':
    '`restartPortalInitializer()` runs the pipeline again (agents without one: `restartConnection()`); `restartCcHostInitializer()` is its deprecated alias',
  'FLOW-22':
    'portal-trained customer agents (`userType` customer with portals): a failing portal manager call rejects `initialize()` with PORTAL_FETCH_FAILED',
  'FLOW-23':
    'an auto-select that fails before the first user gate rejects `initialize()` with InitializationPipelineError',
  'FLOW-24':
    'the transcript records, within its bounds, every message sent and received (a queued one counts as sent when accepted; token frames never): message, direction (`sent` or `received`), timestamp, sessionId, agentId',
  'FLOW-25':
    'after completion `selectPortal(p)` with p of `availablePortals` switches: a new run at p, the chat is left, agent and profile gates follow, `initialized` is emitted once more; an id outside the list is INVALID_SELECTION and leaves the running chat untouched',
  'FLOW-26':
    '`initialize()` resolves at the first gate or at completion, whichever is first; `getIsInitialized()` is false until completion; a second `initialize()` at a gate resolves without a second run; a failure after the first gate rejects only the select promise',
  'REST-01':
    '`GET /core/aiservices/v4/aiagent/details/agent/{agentId}` returns agent details: webSocketDomain, extraScopes, clientAppId, languageCode, enableDataMasking, isAuthenticated, departmentId, portals, userType',
  'REST-02': '`POST …/session` with optional `{ context }` returns a session id; 403, 404 or 405 fall back to GET',
  'REST-03': '`GET …/portalmgr/v3/portals` (customer list); Flow A intersects it with agentDetails.portals',
  'REST-04':
    'profile selection: PUT …/userprofiles/{id}/select with Bearer, `$lang`, `Accept-Language`, no body; any 2xx is success',
  'REST-05':
    "portal, masking and profile calls send the language as `$lang` and as `Accept-Language`, by fixed mapping rules (a British English locale maps to 'en-us'); there is no per-call language option; `setLanguage` sets it",
  'REST-06':
    'getMyPortals and getPortals responses are cached when the cache is enabled, keyed by language and departmentId',
  'REST-07':
    'ApiHelper has getAiAgentSession, getAgentDetails, getDeploymentInfo, getPortals, getMyPortals, getAgentsByPortal, getUserProfiles, selectUserProfile, getUserDetails, getCustomerDetails, setLanguage',
  'REST-08':
    'the per-call authToken may be omitted when `getToken` is set on ApiHelperConfig; with neither, a clear error',
  'REST-09':
    "a failing call's error says which call, the status, and what the body said; a body that is not JSON, empty, truncated or never ends is an error too, within a time limit (exceptions: PUT bodies are not read, 204 on a list is an empty list, user and customer details resolve to null)",
  'REST-10':
    "blank, undefined, null or placeholder session ids ('undefined', 'null') are rejected before any request or address is made: config, getAiAgentSession, setSessionId, the chat address",
  'REST-11':
    'getDeploymentInfo needs no token, returns at least aiAgentDomain, tenant_identifier, intClientId, extClientId, clientId, and uses the shared static cache',
  'REST-12':
    'getPortalDetails, getMaskingPatterns, getPreviousTranscript and getConnectedApps exist as `PROTOCOL.md` describes them',
  'WS-01':
    'address `wss://<webSocketDomain>` when agent details give a non-empty one, else `wss://chat.<deploymentInfo.aiAgentDomain>`',
  'WS-02': 'query parameter `sessionId`, set through URL search parameters',
  'WS-03': 'query parameter `externalCallId` is added when a connector has set the conversation id',
  'WS-04':
    'all frames of `PROTOCOL.md` are sent and understood; an unknown or malformed frame never breaks the next one',
  'WS-05': 'an inbound escalation carries `messageData.escalationData` with liveDomain and entrypointUrl',
  'WS-06':
    'rejected context attributes arrive as a non-terminal system message: `contextValidation` is emitted with the issues, and the session goes on',
  'OPS-01':
    'AiAgent: initialize, connect, send, setContext, getContext, removeContext, restartConnection, updateAccessToken, logout, maskContent, selectPortal, selectAgent, selectUserProfile, getInitParams, getIsInitialized, restartPortalInitializer, updateUserProfile, getUserDetails, getCallTranscript, getCallerInfo, getConversationId, clearCallTranscript, getAgentDetails, getDeploymentInfo (and restartCcHostInitializer, deprecated)',
  'OPS-02':
    'HookContract, each member of `PROTOCOL.md` 6.4 asserted: among them getAccessToken (async, fresh), getMsalAccessToken (sync, cached), getAuthScopes, getUserId (from user/customer details), getInitParams, getQueryParams, getEnvironment, setUserFilterTags (merges user_filter_tags into user context and the stored agent context, keeping existing keys)',
  'OPS-03':
    'PlatformComponentService, each member of `PROTOCOL.md` 6.3 asserted: initPlatform runs in onAuthComplete, after masking patterns are loaded and before the portal pipeline; getDefaultPortal; addCustomAuthScopes and the other optional members',
  'OPS-04': 'AuthenticationService: getToken, getCachedToken, updateScopes, logout',
  'OPS-05': 'constants ACCESS_TOKEN_REFRESH_BUFFER_MS (300000) and ACCESS_TOKEN_REFRESH_BUFFER_MINUTES (5)',
  'OPS-06':
    'message helpers: createContextMessage, createFeedbackMessage, createEscalationMessage, createAgentMessage, createGracefulDisconnectMessage, createTokenMessage',
  'OPS-07':
    'exported types include Portal, UserProfile, AgentListItem, UserDetails, AgentAuthDetails, HookContract, PlatformComponentService, CallerInfo, CallTranscriptEntry, TranscriptEntry, ContextValidationHandler, ContextValidationIssue, AiAgentInitializeOptions, AiAgentConnectorConfig, PKCEAuthConfig, AuthProvider, AuthStrategy, InitializationPipelineErrorCode, InitializationPipelineStage',
  'OPS-08': 'getAgentDetails() and getDeploymentInfo() work before initialize()',
  'AUTH-01':
    "pre-auth with a supplied token (its docs name the three scopes it needs); 'token' still works as a deprecated alias, with a warning",
  'AUTH-02': 'anonymous: a client-credentials token; the default when auth is undefined',
  'AUTH-03': 'PKCE login through an identity provider, in a real browser',
  'AUTH-04':
    'client credentials: obtains a token, keeps it in memory, renews it five minutes before expiry; refuses to run in a browser unless allowed',
  'AUTH-05':
    'from five minutes before its JWT expiry a cached token is not returned where the strategy can renew (anonymous, PKCE, pre-auth with refreshTokenFn); pre-auth without one returns it and has emitted tokenExpiring; a fresh token whose whole life is shorter is used until it expires, without a loop of requests',
  'AUTH-06':
    "session creation with less than about 290 s of token life is refused by the service with 401 'Token will expire soon'; the library refreshes where it can, and otherwise rejects with an error that says so",
  'AUTH-07':
    '`tokenExpiring` is emitted once per token at expiry − 300 s ± 1 s of wall clock; `updateAccessToken()` replaces the token at run time, also on an open chat',
  'AUTH-08': 'getToken() validates the cached PKCE token with the buffer before silent acquisition',
  'AUTH-09':
    'host scopes are used exactly as given; PKCEAuthConfig.scopes wins over initParams.scopes; a host config is never modified; a scope-less host config is filled from initParams.scopes',
  'AUTH-10':
    'no host scopes: defaults, then addCustomAuthScopes seeded with them, then agent extraScopes appended without duplicates, for the anonymous token and the built PKCE config; never for a host PKCE config',
  'AUTH-11':
    "customer agents: the anonymous strategy is re-scoped to include core.customermgr.read (appended also where the platform's list lacks it; host scopes are exempt); a resolved list that differs from the defaults costs one extra token request at start-up, cached for the session",
  'AUTH-12':
    'PKCE client id: initParams.vendorclientid, then agentDetails.clientAppId, then deployment intClientId (userType agent) or extClientId (customer), then clientId; the anonymous token keeps its fixed client id',
  'AUTH-13':
    'the anonymous token is cached in session storage under a key that ends with `:anonymous_token:<fnv1a>` of the scope set; a token of a smaller scope set is never reused for a larger one; entries without a fingerprint are ignored',
  'AUTH-14':
    'anonymous cleanup() does nothing; clearTokenCache() and clearMetadataCache() force a refresh; the token survives remounts and the switch from anonymous to PKCE',
  'AUTH-15':
    'popup login passes no nextRoute and no application state to the identity client (its own anti-forgery parameter stays); redirect login carries the return URL in state and comes back to it',
  'AUTH-16': 'PKCEAuthConfig: localLogin, and the extra query parameters domain_hint and localLogin',
  'AUTH-17':
    'silent acquisition that needs interaction falls back to popup or redirect by scheme; a popup-monitoring timeout falls back to popup token acquisition',
  'AUTH-18':
    'authenticate() always runs the interactive login; AiAgent skips it when initialization has restored a session',
  'AUTH-19':
    'browser-compatibility failures (crypto missing, storage blocked, a stale interaction in progress) become an AuthError with a message that tells the user to refresh',
  'AUTH-20':
    "AiAgent.logout() disconnects the chat, then AuthenticationService.logout(), then PKCE logout, in the login's scheme",
  'AUTH-21':
    "popup logout passes no state and sets postLogoutRedirectUri to redirectUri + `?logout=true`; redirect logout passes the hash-stripped nextRoute (else the current location) as state; the id token hint is the active account's",
  'AUTH-22':
    "end_session_endpoint comes from the OAuth metadata URL, and is constructed only when absent there; when the identity library throws, logout falls back to the access token's `logout` claim, then to that endpoint",
  'AUTH-23': 'strategies without logout() do nothing but drop the cached token; host UI state is not cleared',
  'AUTH-24':
    'the finishAuthentication callback syncs the access token through AuthenticationService.getToken() before onAuthComplete',
  'EVT-01': 'initialized (with availablePortals: every portal that the user can switch to, see FLOW-25)',
  'EVT-02': 'portalsAvailable, agentsAvailable, profilesAvailable',
  'EVT-03':
    'callTranscriptUpdate (also when cleared), callerInfoUpdate, conversationIdUpdate, userContextUpdate, filterTagsUpdate',
  'EVT-04':
    'transcriptUpdate, payload a TranscriptEntry, for each message sent or received that the role, persona and type filters let through, also when storing is off; never for token frames',
  'EVT-05': 'tokenExpiring',
  'EVT-06': 'queueFlushed',
  'EVT-07': 'contextValidation',
  'EVT-08':
    'connection and message events: connected, closed, stateChanged, message, agentMessage, errorMessage, heartbeat, error',
  'EVT-09': 'a listener that throws breaks neither the library nor the other listeners',
  'ERR-01':
    'InitializationPipelineError: pipelineCode (= error.code), stage, optional portal and agent; works with instanceof',
  'ERR-02':
    'every pipelineCode arises in its own condition: AUTH_TOKEN_REQUIRED, NO_PORTALS, PORTAL_FETCH_FAILED, PORTAL_DETAILS_FAILED, PROFILE_FETCH_FAILED, PROFILE_PERSIST_FAILED, NO_AGENTS_FOR_PORTAL, DEPARTMENT_ID_REQUIRED, INVALID_SELECTION',
  'ERR-03':
    'AuthError, ConnectionError, MessageError and their common base SDKError carry a stable code from the union of `PROTOCOL.md` 3.11 and the cause',
  'ERR-04': '401 at session creation and a rejected session id are told apart from other failures by code',
  'LIM-01':
    'the numbers of the Limits table hold: queue 1000, attempts Infinity, delays 1000/30000 ms, cache ttl 300000 ms, refresh buffer 5 min, flush delay 5 ms; the emulator refuses session creation below 290 s of token life',
  'VER-01':
    'all packages carry version 0.3.2 of one release line, semantic versioning; an exported VERSION equals it; what 0.3.x removed or deprecated has its warning or type error',

  // Decisions beyond the requirements.
  'OWN-01':
    'connect(), disconnect(), initialize() and send() settle also when the service refuses, never responds, or closes early; each can be aborted by a signal',
  'OWN-02':
    'disconnect() followed immediately by connect() ends connected, on one socket; concurrent calls of connect() or initialize() share one attempt',
  'OWN-03':
    'a service that accepts and closes at once is retried with growing delays: only five seconds open or a message of the agent reset the backoff',
  'OWN-04':
    'a session that the service no longer knows (404 or 410 at the upgrade, close code 4404) is reported by an error event and replaced by a new one, with the stored context',
  'OWN-05': 'a second agent in the same process makes no request except for its session',
  'OWN-06':
    'the token frame is the first frame on every connection of an authenticated agent, and no message overtakes a queued one',
  'OWN-07': 'messages sent before initialize() are queued and sent in order',
  'OWN-30':
    'with `resume` a conversation continues after a reload: the same session without a session call, and the earlier messages in the transcript, each once, in order, with its own direction and time; what was said until the chat opened too, with and without a history of the chat',
  'OWN-31':
    'a stored session that the service no longer knows is reported by an error event and replaced by a new one, with the stored context; a failing transcript call loses only the earlier messages',
  'OWN-32':
    'the stored session follows the conversation: replaced by restartConnection(), setSessionId() and updateUserProfile(), dropped by a portal switch, restartPortalInitializer(), logout() and the service ending it, kept by disconnect() and destroy()',
  'OWN-33': 'a session is stored for one agent, portal, profile and user, and never with the cache off',
  'OWN-20':
    'an agent message with an escalation is followed by an `escalation` event with its data; its addresses are http(s) only',
  'OWN-21':
    'ask() resolves with the first answer after its question was written, one question at a time and in order; every ask() settles',
  'OWN-22': 'messages() yields every message of the agent from the call on, to several readers at once',
  'OWN-23': "setLanguage() overrides the agent's own language, before initialize() and after it",
  'OWN-24': 'a message above 64 KiB logs one warning with its size; one that the service refuses leaves the chat open',
  'OWN-25':
    'a handler of the host handles its kind of message, first or last, and delays later messages; its failure affects nothing else',
  'SEC-73':
    'the text of an answer costs bounded work: 128 kB of any kind cost about eight times as much as 16 kB, and what is too long or nested too deeply is shown as it was written',
  'SEC-74':
    'of thousands of options or sources in one answer the terminal lists the first, with the number of the others',
  'SEC-40':
    'the command writes no control character of a service to the terminal, shows invisible and bidirectional characters by their code points, and indents continuation lines',
  'SEC-25':
    'the context, cached profiles and the selected profile of one deployment are never used or deleted by an agent of another, nor are those of ids that join to the same text',
  'SEC-26': 'another user in the same tab never gets the choices of the previous user, also without a logout',
  'SEC-01':
    'users are told apart in stores by issuer and subject, through a collision-resistant hash; the keys do not contain them in plain text',
  'SEC-02':
    'when a token belongs to another user than the tokens before it (issuer or subject differ, or the host says so), the handler of user changes runs before that token is used for anything; anonymous to user is not a change, user to anonymous is, a token that cannot be read counts as one of the same user',
  'REL-50':
    'a function of the host or of an identity provider that does not settle costs its callers an AuthError after 30 seconds and others nothing; updateAccessToken() and logout() free what waits for it; an interactive sign-in ends with its signal, logout() or destroy()',
  'SEC-03':
    'the stored user of a login is never replaced without a sign-in: a renewal that meets or returns another user rejects with interaction_required, and stores nothing',
  'SEC-04':
    'a sign-out is final: a login or renewal in flight, in this tab or another, stores no token after it; a user who signs in right after it is kept',
  'SEC-05':
    'a sign-out removes what is stored before it awaits anything: also before initialize(), with a blocked popup (its ID token is kept for another try), with a provider that does not answer, and with a login window open, whose login rejects',
  'SEC-06': 'a sign-out, or a sign-in of another user, is followed by the other tabs that share the store',
  'SEC-60':
    'a sign-out in one tab forgets the user in all tabs that share the conversation: tokens, stored user, renewals in flight; the next initialize() in each asks for a login, and a user who has signed in since is kept. So it is in a tab that was stopped meanwhile, and is loaded again',
  'SEC-61':
    'a token that the host supplies to an anonymous tab is never posted to the other anonymous tabs: its tab takes the session and its queue with it, once all others that run have let go, or joins the conversation of the user; the others keep what they show, and request another session with their next message. One that is stopped meanwhile does so when it runs again, or is loaded again',
  'SEC-53':
    'a page that comes back from the back/forward cache notices a sign-out, or a sign-in of another user, in the store of its login',
  'SEC-07':
    'the script for script tags loads its second file from the address of its own script element only, and checks it against `data-login-integrity` where that is given',
  'SEC-08':
    'a `state` parameter is only ever the key of a login that this tab began; an answer to any other changes nothing, and does not keep initialize() from restoring the session',
  'SEC-09':
    'the callback page and the page of the application follow a return address only if this tab left with it; the callback page carries a policy that allows its own script only',
  'SEC-10': 'answers to a login are taken from messages of the own origin and of the callback page only',
  'SEC-11':
    'a login goes over https except on this machine; `knownAuthorities` is the list of the hosts that it may go to, other than those that the host or the deployment gives in `authorityMetadata`',
  'SEC-12':
    'the issuer of ID tokens is the one that the provider publishes or the host gives; one that was constructed from a deployment may differ, and then stays what it was first',
  'SEC-63':
    'no request with a token, a code, a secret or a body follows a redirect, and its response is not used; the error names the origin that answered with the redirect. The public deployment info may move',
  'SEC-64': 'a login sends a new nonce, also across a redirect, and rejects an ID token that does not repeat it',
  'SEC-65':
    'an answer to a login is rejected before the code is sent if it names another issuer, or none where the provider promises to name it',
  'SEC-66':
    'the issuer that the discovery of a provider names is of the origin of the authority, or on a host of `knownAuthorities`',
  'SEC-68':
    'a login accepts no ID token that is more than a day from the clock of the device, unless the time of the provider explains it; the error names the clock',
  'REL-52':
    'a login window is never reported as closed while the page of the provider is open in it, whatever its opener policy',
  'REL-53': 'a clock that is hours off neither keeps a user from signing in nor makes fresh tokens look expired',
  'REL-54':
    'a login window that ends on the callback page, or on one with the state of the request, and passes no answer on is named, with its address; on other pages of the own origin it may stay for any time',
  'REL-51': 'forced token refreshes are spaced: at most three at once, then one in five seconds',
  'SEC-28': 'all masking rules together have one budget for a text; what the rules might find beyond it is hidden',
  'SEC-29': 'masking rules beyond the limit of 200 are refused and reported',
  'SEC-30':
    'an agent that masks content and has no usable rules reports `maskingUnavailable` with the reason, whether or not masking is required',
  'SEC-76':
    'with masking, what the rules hide, and with required masking what they would hide, is in no recording, no telemetry, no draft, no store and no log',
  'SEC-77':
    'expired responses, metadata and anonymous tokens in the stores of a page are removed with the start of any agent, at most once a minute for each kind',
  'SEC-78':
    'an expired queue of `persistQueue` in the database of a page is removed with the start of any agent, of any owner, and no other one',
  'SEC-79':
    'a login that starts in a page removes logins by redirect that began more than a day ago, and stored users of any provider whose access token expired more than 90 days ago',
  'SEC-80': 'with `resume`, the session is stored in the sessionStorage of its tab only, whatever `storageType`',
  'SEC-90':
    'telemetry passes on codes of the service of the form `401-013` and ids of the form of one; its other texts become neither a label nor the type of an error nor an id',
  'SEC-91':
    'a regular expression of a talk has a time limit, so that no answer stops a run of `aiagent test`; the failure names its line',
  'SEC-92':
    'a request goes to an address with https or http only, a chat to one with wss or ws, wherever the address comes from; any other scheme is refused before the platform gets it',
  'SEC-93':
    'a workflow of the hosted CI names each action by its commit, and its job that may publish runs nothing but the publishing',
  'SEC-94':
    'a served emulator has limits for the chats that wait at its desk, for the messages of a chat and for their characters, and keeps what `data` stores from other users of the machine',
  'SEC-95': 'a served emulator without a seed has session ids and keys that nobody can guess',
  'SEC-96': 'the playground is served for a host name of this machine only',
  'SEC-97': 'an error of the live desk of the host is logged by its name, without its message',
  'SEC-31': 'a connector script that loads too late is never taken for another',
  'SEC-32': 'text that looks like a token is cut out of the errors of the service',
  'SEC-34':
    'nothing that prints an error of an unreadable frame prints the frame, which may be a part of a conversation',
  'SEC-35': 'the session id of a REST call is cut out of the errors that the service answers with',
  'SEC-37': 'the ids of restored messages are the same after each reload and do not contain the session id',
  'SEC-36':
    'the privacy audit of hosts finds nothing in the client, and finds each planted leak by its kind, its sink and its place there',
  'SEC-33':
    'with an `endpoint` over https, no address that the service names is used without encryption, except on this machine for an `endpoint` that is there, too',
  'SEC-69': 'a deployment on another machine cannot send tokens to a port of this machine over plain http',
  'SEC-71': 'half of a surrogate pair in an id, a subject or a key never throws, and two users never share a key',
  'REL-01': 'an agent that is disconnected, or was never connected, is collected whole once the host has dropped it',
  'REL-02':
    'a disconnected agent renews no token and holds no timer and no listener; the next connection watches the token again',
  'REL-03': 'an agent declared with `await using` is destroyed at the end of its scope',
  'REL-04':
    "initialize() and the select methods resolve with `{ status: 'ready' }`, or with the open choice; a replaced selection rejects with ABORTED",
  'REL-05': 'at a gate, connect(), send() and ask() name the open choice and the method that answers it',
  'REL-06':
    'an agent with portals for which no token can be obtained fails with AUTH_TOKEN_REQUIRED at stage start; an agent without portals with the AuthError itself',
  'REL-07':
    'AiAgent.getAccessToken() resolves with a token that is valid now, renewed when necessary, and with null while the agent is not initialized; for an expired token that cannot be renewed it rejects with `token_missing`',
  'REL-08':
    'with `retryInitialize`, initialize() is repeated while the service cannot be reached (no network, time limit, 429, 5xx), with the waits, the number of attempts and the events of a reconnect; it ends by its signal, disconnect(), logout() and destroy()',
  'REL-09':
    'on a page of another origin than that of its redirect page the login of the deployment opens nothing; the error contains both addresses',
  'SEC-13':
    'when a user signs out by one agent of a page, every other agent of this user on the page empties everything of the user, has no token and emits `userChanged`; the same when another user signs in with the same login',
  'SEC-14':
    'a masking rule of the service that is not a record is reported like every other refused rule; with required masking it blocks messages',
  'SEC-15':
    'a logout is final: before it returns it empties everything of the user in memory, the call with its events included, and starts to remove what is stored; it works in every state, and what is sent or set while it runs is rejected with ABORTED',
  'SEC-16':
    'when the token belongs to another user, everything of the previous one is removed and `userChanged` reports it before the new token is used; initialize() starts again',
  'SEC-17':
    'a page that a login or logout by redirect left, and that is shown again from the back/forward cache, is usable: logout() settles, a login rejects with `popup_closed`, and initialize() starts again',
  'SEC-18':
    'AiAgent.clearStoredData() removes what is stored on the device for a deployment, without an agent and without a request',
  'SEC-19':
    'a loop over messages() receives nothing of the user who signed out that it has not read before; it goes on with the messages of the next session',
  'SEC-20': 'user details and masking rules of an older load, or of a user who has signed out meanwhile, are discarded',
  'SEC-21': 'a cached answer that depends on the user, such as masking rules, is never given to another user',
  'SEC-22':
    'a sign-out and a change of the user remove context, session and queue of the user from a store that several users share, too',
  'SEC-27':
    'a logout removes the cached answers of its user, and in a store that several users share only those; a failure to do so is reported',
  'REL-19':
    '`rateLimited` reports each wait of a REST call for a rate limit, with the call and the wait, and each message that the service refuses with 429-001',
  'REL-20':
    'the memory that replaces a store has bounds on its entries and its size, and drops what was not used for the longest time',
  'REL-21': 'expired answers are swept from memory and from the browser’s stores',
  'REL-22': 'stored data of another version is ignored and replaced',
  'REL-23': 'a REST body larger than 8 MiB is given up with an error that says so',
  'REL-24': 'a failed REST call names its address and, as far as the platform tells, its cause',
  'REL-25': 'every refused token has a remedy that fits it',
  'REL-26': 'a rate limit (429, or error code 429-001) is waited out, within bounds',
  'REL-27': 'a GET or PUT that met a closed connection is sent once more; a POST is not',
  'REL-28': 'a host on Node brings its own fetch and socket options',
  'SEC-41':
    'an emulator that listens on this machine only refuses requests for other hosts, whatever their form: path, absolute target, upgrade, HTTP/1.0, several Host headers',
  'SEC-42': 'the emulator answers a request body above 1 MiB with 413',
  'SEC-43': 'an emulator that listens beyond this machine warns once',
  'SEC-44': 'the callback page of the emulator keeps code and state out of the address of the application',
  'REL-37':
    'a file of the library that cannot be loaded: without resume, persistQueue or tabs the agent works, with a warning; with portals or a connector initialize() rejects with MODULE_LOAD_FAILED and the name of the feature; where the engine sends the request again, a later initialize() loads it, and with `retryInitialize` the library itself, which gives up after four failures in a row; a view says `reload`',
  'REL-38':
    'a renewal uses the refresh token of the last renewal in any tab, also while the store of the tab still shows an older one',
  'REL-39':
    'a token that the host hands in is not taken for expired because the clock of the device is ahead, and its end is noticed although the clock is behind',
  'REL-40':
    'a client that knows only the deployment info reaches the emulator over TLS: `apiDomain` is a bare host, and `chat.<aiAgentDomain>` leads to the chat',
  'REL-42': '`emulator.pkceConfig()` configures a login that works',
  'REL-43': 'the emulator answers 429 with `Retry-After`, and messages with the code 429-001, on request',
  'REL-44': 'an emulator closes at the end of an `await using` block',
  'REL-80':
    'each message that `send()` or `ask()` accepts has a delivery; `deliveryUpdate` reports each change of it once and in order, and `agent.delivery(id)` returns its state, its outcome, `retry()` and `cancel()`',
  'REL-81':
    'without receipts a message is `acknowledged` only by a history of its session that shows it, each element once, and never by words that may have been said before or by another message',
  'REL-82':
    'what was written later than `doubtAfterMs` before the last inbound frame of a connection that ended abnormally, and is not in the history of the reopened chat, becomes `unknown`; also when no history comes',
  'REL-83':
    'every outcome settles: what has no evidence becomes `unknown` when its session ends, what was never written `failed` with its reason; nothing of it reaches the next user',
  'REL-84':
    "`delivery: 'at-least-once'` sends what is in doubt again by itself, in order, under the same ids and before anything new; the default never does, and nothing of a conversation that was left by a restart or a portal switch goes into the next one, except by `retry()`",
  'REL-85':
    'where the service announces receipts, frames carry their id, a receipt acknowledges, a refusal fails, and what has neither is sent again after a reopening, in order and before anything new; the number of messages without a receipt is bounded',
  'REL-86':
    '`retry()` sends an `unknown` or `failed` message again, masked as before; `cancel()` takes back only what is queued; nothing that may have arrived is called `failed` or `cancelled`',
  'REL-87':
    'the ledger keeps the last 1,000 settled messages, and observes up to 10,000 without evidence, the `unknown` ones included: a later history shows which of them arrived',
  'REL-88':
    'with `persistQueue` the next page of the user sends what waited: first, in order, exactly once and under the same ids; what a page was sending when it ended is reported as `unknown`, or sent again with receipts',
  'REL-89':
    'two tabs or agents never send the same stored message; an anonymous queue stays with its tab, or with the tabs that share its conversation',
  'REL-90': 'a store of the queue that is slow, fails or hangs delays sending by a bounded time and is reported once',
  'REL-91':
    'the stored queue is opt-in, masked and expires; sign-out, a change of the user and `clearStoredData()` remove it',
  'REL-104':
    'with `persistQueue` and `resume`, `destroy()` waits a bounded time until the queue and the session are stored, and what it leaves to the next page is not called `failed`',
  'REL-105':
    'with `persistQueue`, nothing leaves before a slow store has marked it, so that no crash leads to a second copy at the service',
  'REL-106':
    'what `retry()` or the next page sends into another conversation is in the transcript of that conversation, once',
  'REL-107':
    'a far too high `seq` silences no later frame: the client follows the numbers of the service, and warns once',
  'REL-108':
    'with receipts the disconnect frame and the context frame of an opening carry an id too; the context is sent again at each opening, under the same id, until the service has confirmed it',
  'REL-109':
    'outside a page a sign-out before `initialize()` removes the stored queue and session of the anonymous user whom `cache.contextPrefix` names',
  'REL-92': '`explain()` describes every state of an agent in one sentence, with the step that helps and the queue',
  'REL-93': 'no accepted message remains of which the host is not told, over cuts and half-open connections',
  'REL-285':
    'each initialize() that fails writes one warning with code and remedy, also where no caller awaits it, and none where it was ended; with `retryInitialize` the first failure and each new code',
  'REL-286':
    'a message that waits while no connection is open, wanted or planned writes one warning with the three ways to open the chat',
  'REL-294':
    'whatever becomes of the session of a conversation, the chat opens again in one that the service knows, with the context that the host has set, also while the session was requested; no more are created than needed',
  'REL-295':
    'what a host has stored with a session that the service has forgotten belongs to the next one, also where the page is loaded again in between, and ends with the conversation',
  'REL-10':
    '`maxQueueSize` is one limit over `send()`, `ask()` and messages held for `initialize()`; `getQueueSize()` never exceeds it',
  'REL-11': 'the pause before the next question adapts to the gaps between messages of one answer, from 50 ms to 2 s',
  'REL-12':
    '`ask()` without a connection or before `initialize()` logs a warning within 3 s and names the state in its timeout; the end of the chat rejects it with reason `closed`',
  'REL-13':
    'a question that was open when the connection was lost settles with its own answer from the history or with an error, and never blocks later questions',
  'REL-14':
    'after two attempts in a row that failed without a reason, as in a browser, the client asks over REST whether the session exists, and continues in a new one at once if not',
  'SEC-51':
    'a received frame above 8 MiB is not read: the socket is closed, and an `error` event reports close code 1009',
  'SEC-70':
    'frames of more than 32 MiB never wait for a message handler: the connection is replaced with close code 1009, and a history gives back what was not received',
  'SEC-52':
    'with persistQueue, the store names the session of a message by a fingerprint, with which nobody can open it',
  'REL-15':
    '`send()` rejects a user message with neither content nor message data, and feedback without the id of an answer, as `invalid`',
  'REL-16':
    'the transcript keeps at most 5,000 entries and 8 MiB of frames unless configured otherwise; `transcriptTrimmed` reports how many of the oldest entries were removed',
  'REL-17':
    'message data that is nested more than 100 levels deep is left out of the transcript, so that the transcript can always be written as JSON',
  'REL-18':
    'each entry of the transcript has an id that is unique, also where the service repeats its message ids; restored messages have the same ids after each reload',
  'REL-96':
    'what was said in the session while the connection was down is in the transcript after the reconnect, once and in its place, with events marked `recovered`, and answers an open question: from the history frame, else from one transcript call for each reopening; one warning where neither is available',
  'REL-97':
    '`status.working` is true from a heartbeat until an answer, an error, a close, or 30 s of silence, and `workingChanged` reports each change',
  'REL-98':
    'what clearTranscript(), logout(), a restart or a change of the user removed never comes back by a history or a transcript call, also one that was under way',
  'REL-99':
    'where the service announces `resume`, a reopening names the last processed number; what the service repeats is recovered once and marked, numbers that were processed are dropped, and an incomplete replay is filled from the history',
  'REL-101':
    'a page replaces its connection when it wakes, and after a minute of silence that follows a message of the user, once for each doubt and only where a history or the transcript call shows what a new connection misses, else it warns; where the service answers pings, they decide everywhere, in at most 20 s',
  'REL-100':
    'on Node the socket pings the service, and a connection on which nothing arrives from one ping to the next is replaced: by default within 18 s, idle or not',
  'REL-102':
    'every `closed` event has its cause, whether and when a reconnect follows, and, for a close that ends the chat unasked, what the host can do',
  'REL-103':
    'with `connectOnSend` a message opens a chat that is not open and that nothing reopens, in a new session where the service has ended the old one',
  'SEC-50': 'a wall clock that is set back lengthens no wait and makes no flush use more processor time',
  'REL-29':
    'an odd entry in any list that the client reads from the service (null, an empty record, a record without its id, a number, a text) costs that entry only, and the host sees the same as without it',
  'REL-41':
    'an option that does not exist, also of `cache`, `transcriptConfig`, `masking`, `persistQueue`, `connector` and `auth`, is ignored with one warning, which has the nearest name where one is near; names that the host chooses do not count',
  'REL-35': 'a rule counts as proven only if a test with its id has run and passed',
  'REL-31': 'a Redis server that a test started ends with the process of the test, even when it is killed',
  'REL-56': 'a record of the service is typed by its known fields, so that a misspelt field does not compile',
  'REL-55':
    'every frame, record, token response, claims and metadata has a parser without a library that reads any JSON exactly as its schema does',
  'REL-61':
    'with `tabs: share` all tabs of one user and agent have one session and one socket, and each shows what all of them said',
  'REL-62': 'when the leading tab is closed or crashes, another tab continues within 300 ms of the release of its lock',
  'REL-63':
    'a leading tab that is frozen loses its lock within five seconds, and follows when it runs again; the service never accepts frames of two sockets of one session',
  'REL-64':
    'what a tab that has ended had not sent is sent by another one, once: with receipts nothing is lost, without them what may be lost is reported as `unknown`',
  'REL-65': 'one question of `ask()` at a time is out in all tabs, and each gets its own answer',
  'REL-66':
    'tabs that share a conversation share its context and what is read, and move together into the session of a restart',
  'REL-67':
    'a sign-out, or another user, in one tab removes everything of the user in all tabs that share the conversation',
  'REL-68': 'a shared socket is open as long as one of the tabs is connected, and the last one says goodbye',
  'REL-150':
    'a tab knows the unsettled messages of tabs that ended before it was opened, and settles them when it leads',
  'REL-151':
    'when the user changes in one tab, at any moment of what happens to the tabs, all tabs end with the same user or signed out, and no text, context or token of one user reaches the session of another one',
  'REL-180':
    'without receipts, what a tab that has ended had sent, and what a tab sent over a leader that has ended, is acknowledged if the history of the session shows it; it becomes unknown only if the history does not, and it was sent within `doubtAfterMs`',
  'REL-155':
    'a tab that its browser has stopped, or kept in its back/forward cache, shows what the others said meanwhile, once, also where the browser has lost their messages',
  'REL-156':
    'a tab that its browser has stopped, or kept in its back/forward cache, while the user signed out in another one leaves the user too when it runs again, also if no other tab is left',
  'REL-69':
    'messages between tabs are parsed as data from outside, tabs of another version are another group, and names of channels and locks hold neither session nor token',
  'REL-70':
    'frames of receipts, resume and ping are read leniently and exactly as their schemas read them; odd capabilities count as none',
  'REL-126':
    '`status.phase` and `phaseChanged` tell each step of the life of an agent: preparing, choosing with the choice, ready, idle with the error of a failed initialize(), leaving, destroyed',
  'REL-129':
    '`status` is a frozen object, the same one until a member changes: the phase, the connection, whether the agent is working, and when the next attempt of a reconnect or of initialize() is due; an event reports each change',
  'REL-127': '`transcriptCleared` reports each time the transcript is emptied',
  'VIEW-01':
    'a conversation view shows each message of the transcript with author, time, content, sources, options with the one that was taken, rating, hand-over, masked parts and delivery',
  'VIEW-02':
    'after any sequence of messages, choices, ratings, cuts, restarts, logouts and reloads the snapshot of a view equals a fold over what the service recorded',
  'VIEW-03':
    'with `resume`, a view is the same after a reload: sources, chosen options, ratings, the open hand-over and the masked draft come back with the text',
  'VIEW-04':
    'a view names the state of the connection with what helps, the choice that waits, a needed login, offline and silence, unread messages, and the last error with its remedy',
  'VIEW-05':
    'the snapshot of a view is frozen, stays the same object until something changes, and shares everything that did not; all changes of a frame, or of a microtask in a hidden page, are one notification, and none is lost',
  'VIEW-06': 'a view leaves no listener and no timer behind, and needs no page',
  'VIEW-51':
    'the emulated agent quotes articles in whole blocks, rows, items and lines, with titles as plain text and the addresses of definitions; a byte order mark is skipped in every file that the command reads',
  'VIEW-52':
    'a view gives the id of a session away neither in an export, nor in the name of a lock or channel, nor in the messages of the adapters',
  'VIEW-53': 'in an export, no text, name or source of others can look like a line of the user',
  'VIEW-54': 'stored ratings and masked parts of another form are left out one by one, and the chat goes on',
  'VIEW-75':
    'of the messages of the user that an answer of their session follows, a view shows the first one without doubt, whatever the ledger knows; further ones, and those without an answer, stay in doubt',
  'VIEW-76':
    'a view says after a reload that the session has expired which the service has forgotten; the draft and the chats with colleagues that were stored stay, for the same user, and nothing else of it is stored',
  'VIEW-77':
    'a view says where the present session of a conversation begins, which knows nothing of what is above, until the transcript is cleared',
  'VIEW-79':
    'a mark names each colleague who joins a live desk, and each who leaves if the desk reports it; the user then waits again, also after a reload',
  'VIEW-80':
    'a DirectLine object reports a hand-over as accepted once a colleague has joined, and as initiated while the user waits for one',
  'VIEW-78':
    'a new conversation of the user begins below the messages of the former, in each view and tab, until they are cleared and for the same user only: these cannot be answered or rated, a text that may not have arrived is sent in the new one, and nothing of them is stored, unread or passed to a desk',
  'VIEW-30':
    'with `resume`, a view stores ratings, masked parts and the masked draft with the session, without losing those of another view of the agent, and reads them in any form',
  'VIEW-31':
    'a connection is silent 15 s after a message of this page was written, also one that had waited, and until anything arrives',
  'VIEW-32':
    'messages that the agent sent during an outage are shown in the order of the service and count as unread; every object of a snapshot is frozen',
  'VIEW-33': 'a view that was connected explains its state and exports the conversation without a network',
  'VIEW-36': 'a view no longer asks for a login once the agent answers with the token that the host has passed',
  'VIEW-37': 'a view works without the globals of a page, also explain(), export() and what is stored with the session',
  'VIEW-50':
    'with `resume` and `keepsUnread`, a view counts as unread what the agent has said since the user read or wrote, also on an earlier page and while there was none',
  'REL-195':
    'a view that leaves its chat keeps messages, draft and queue, is not opened later by what had begun before, and continues in the same session with start(), after a sign-out as the next user',
  'REL-196':
    '`getSessionId()` names the session of the open chat, else of the next one: null before there is one and after logout(), the same over reconnects, reloads with `resume` and shared tabs',
  'REL-197':
    'what is refused while the data of a user is removed names the way on: logout() to who called it, else `userChanged`',
  'REL-198':
    'the error of a snapshot has a stable code, for which `@aiagent/elements/strings` has the sentences of the chat in each of its languages',
  'REL-240':
    'each request of a start is sent with the last answer that it needs, and none before: directly with an anonymous token, and in a contact center',
  'REL-241':
    'returns of a page cause at most one attempt a second; an attempt that fails lengthens the next wait, and is not taken from `maxReconnectAttempts`',
  'REL-242':
    'the wait that a service asks for with 503, or with a refused upgrade on Node, is the least wait of the next attempt, up to `maxReconnectDelay`, and only connect() shortens it',
  'REL-243':
    '`Retry-After` is read as seconds, where a fraction is rounded up, or as a date of HTTP, which counts from the `Date` of the response; anything else, and a date in the past, counts as no header',
  'REL-244':
    'no cache of the platform answers a call of the library; the requests of `nativeEnvironment()` stay as they were',
  'REL-245':
    'a grant of client credentials is repeated once where the reused connection had been closed before the answer; the POST of the session is not',
  'REL-246':
    'on Node, a chat that cannot be opened says why, with its cause or status, in the error, the log and `explain()`, and none of them holds the path or query of its address',
  'REL-247':
    'an HTML page in place of an answer, a proxy or network that asks for a sign-in and an unknown agent are named in the error',
  'REL-248':
    'an entry of a list whose id is a number that is not a safe integer is left out, with one warning that names field and reason; where nothing is left, the error of the pipeline says so',
  'REL-249':
    'an answer of the agent that the service sends again in its session (same id, role, content and data) is reported, recorded and shown once, answers no open question, and does not count as a sign of life for the waits of the reconnect',
  'REL-250': 'a browser that takes the network for absent keeps no request back: its word explains a failure only',
  'REL-251':
    'a renewal of a token that failed by the network, a limit or the service is tried again after a minute, and when page or network return, one at a time, until the token expires; a refusal is final, and `tokenExpiring` is emitted once',
  'REL-252':
    'what the browser has and denies to the page (locks, channels, databases, stores) counts as absent: the option that needs it has no effect and says so once, nothing hangs, and no unhandled rejection is left',
  'REL-253':
    'the effort for a frame or a message does not grow with the number of those that wait, were recovered or are in the transcript',
  'REL-254':
    'masking rules that could not be loaded are loaded again with the next connection, and after a message was refused for want of them',
  'REL-255':
    "an agent, and every other public object of the library, works in Vue's `ref()`, `reactive()` and `data()`",
  'REL-256': 'an Angular application with zone.js becomes stable beside a connected chat',
  'REL-257':
    'a service worker of type module converses, built with the export condition `worker`; without it the error says so',
  'REL-258':
    'the conditions between a client and a real service (caches, marks, large ids, repetitions, ended connections, limits, repairs, portals, proxies) change the outcome of no conversation that gets through, end a start with an error that names them, and lose no message',
  'VIEW-34':
    'a stream of the chat transport always ends: with the answer, also one that was missed, with an error when the service reports one, the message cannot be sent or the chat ends, with `abort` when the user leaves or takes the message back, and when another message is sent; what belongs to no stream is passed on once, and the history of a reload is not',
  'VIEW-35':
    'a DirectLine object emits a message as sent when it has left, in the place of the service, takes ratings, shows nothing of a user who has left, serves every observer, and ends once',
  'VIEW-40':
    'a live desk of the host continues in the list of a view with the author `colleague`: the snapshot says who writes, marks show where it opened and closed, and the agent continues then',
  'VIEW-41':
    'text to a live desk is masked as text to the service, and is not sent where masking is required and no rules are active',
  'VIEW-42':
    'a live desk that cannot be opened or fails is an error of the snapshot with the code `desk_failed`, and the conversation with the agent goes on; of a message that fails or hangs the code is `desk_message_failed`, and the desk stays open',
  'VIEW-65':
    'a view says since when the user waits for a colleague, and who has joined, also after a reload; the mark where a live desk has closed names a colleague who has left, and nobody else',
  'VIEW-66':
    'an error of a live desk is removed when it no longer holds: that of a message once all have arrived or the desk has closed, that of a desk once another one opens or the user writes to the agent',
  'VIEW-67':
    'a live desk gets the conversation of the present session as the view shows it: masked, without ids of sessions and without what was not sent; an option leaves it out',
  'VIEW-68':
    '`openDesk()` opens a live desk again for a hand-over, once for any number of calls, and for no other user',
  'VIEW-69':
    'the work for the messages of a live desk grows in proportion to their number and leaves the page time, and what is kept and read of them is limited',
  'VIEW-70':
    'an export has the words of the caller, natural English by default, times in the given time zone with its name, and the marks of Markdown that its format has',
  'VIEW-43':
    'with `resume`, a live desk is opened again with its handle after a reload, with each of its messages once and at its place, and it does not depend on the connection to the service',
  'VIEW-44':
    'a live desk ends with its user and its conversation: its signal is aborted, nothing of it is shown or stored any more, and what arrives later is dropped; with the agent or the view it is released only',
  'VIEW-45':
    'tabs of one conversation have one live desk, in the tab in which the user wrote last: the others say so, send nothing, and are free when that tab ends',
  'VIEW-46':
    'with a live desk, in any order of cuts, reloads, further tabs and sign-outs, no message of the user or the colleague is lost, doubled or shown to the next user',
  'VIEW-47':
    'a view reports the steps of a conversation to listeners of signals, with times and durations, and without texts or ids',
  'VIEW-48':
    'signals report what follows the first listener: a new conversation and its first message once, each answer, rating and hand-over once, also over reloads, in several tabs, and for the next user',
  'VIEW-49':
    'a listener of signals that fails harms nothing, and a removed listener, or one of a view that has ended, is not called',
  'VIEW-60':
    'a view knows when the next attempt follows, and whether the service has asked for that wait; `retry()` tries at once, before the first connection and after a lost one',
  'VIEW-12':
    'the adapters carry messages, sources, options, ratings and send status into the forms of the AI SDK, assistant-ui and DirectLine, and reject what the service has no message for',
  'PLAY-01':
    'an emulator in a page offers a login on a page of the host: codes are bound to their challenge and used once, and return to the same origin only',
  'PLAY-02':
    'the playground shows frames, calls, events and the transcript in words, without tokens, session ids and values of queries',
  'PLAY-03':
    'the playground holds a conversation of each scenario from any static host, logins included, without a request beyond its origin',
  'PLAY-04': 'the playground shows and changes the context, and shows each state of a delivery, with its queue',
  'PLAY-05': 'each button of the playground causes the fault that it names, and what lasts can be lifted',
  'PLAY-06':
    '`aiagent emulate --playground` serves the playground with a content policy of its own for an emulator, or with `--endpoint` for a deployment',
  'PLAY-07':
    '`npm start` prints the address of the playground after the chat is connected, so that the first answer is as fast as without it',
  'PLAY-08':
    'from a clone, the playground is built with its first request, once, with a line that says so; a failure is reported and tried again',
  'PLAY-09': '`npm start` opens the playground in the browser with `--open` only',
  'PLAY-10':
    'a chat with a colleague at the emulator, on a port or in a page, is reached by its handle only, and has each message once and in order after reloads, lost confirmations, cuts and restarts',
  'PLAY-11':
    'a served emulator brings a page on which a colleague answers: for this machine only, under a strict content policy, with every text as data',
  'PLAY-12':
    'the playground opens a chat with a colleague when the agent hands over, and the developer answers beside it',
  'VIEW-13':
    'with `@aiagent/client/react-native` a conversation works without crypto, structuredClone, TextEncoder, localStorage, document and window: it follows AppState and NetInfo, and continues from AsyncStorage after a restart',
  'REL-128':
    'with `resume`, setSessionData() stores data of the host with the session: it comes back after a reload, and ends with the session, the user and the stored data',
  'REL-79':
    'a recorder holds calls, frames, states and events without tokens, session ids and content; `aiagent replay` runs the client with it and names reordered, duplicated and lost messages, unanswered promises and illegal states',
  'REL-78': 'clients that lose the service together are spread over the wait by the jitter of the policy, by seed',
  'REL-71': 'without capabilities the emulator sends exactly the frames of the plain wire, whatever the client adds',
  'REL-72':
    'the emulator acknowledges each accepted frame with an id in order, processes an id once in a session, and names the id of a refused frame',
  'REL-73':
    'the emulator numbers the frames of a conversation, replays what a reopening missed once and in order, and says when it no longer has all',
  'REL-74':
    'the emulator answers a ping with its id where a capability is announced; a ping leaves no trace in the conversation',
  'REL-75':
    'each source from which a client recovers messages can be switched in the emulator, and its record of accepted frames is readable',
  'REL-118':
    'a REST body that is nested more than 500 levels deep is rejected as unreadable, since it cannot be copied',
  'REL-119':
    'mutated frames and REST bodies throw nothing into the void, hang nothing, and leave the client usable and its memory bounded',
  'REL-120':
    'the request for the previous transcript is repeated once with a new token after status 401, so that missed messages are found',
  'REL-121':
    'a failure of a token function or a strategy of the host keeps its own words in the message and in `cause`; what a strategy passes to `postAuthentication` is not used',
  'REL-117':
    'the fault campaign of `npm run verify` finds eleven bugs that are planted in the client, one at a time, within 400 runs each',
  'REL-110':
    'a logout settles although the window of the provider, a strategy or the store of the host never answers; then the agent can be initialized again',
  'REL-111':
    'a function of a connector script that does not answer within 30 seconds fails initialize(); only initPlatform(), for which the user may have to sign in, has no limit',
  'REL-172':
    'a message handler of the host that does not settle within 30 seconds counts as failed, and the messages behind it are handled',
  'REL-112': 'a cached answer stays fresh no longer than twice its time because the clock of the device was set back',
  'REL-113':
    'after a disconnect() the next connect() does not wait for a token request that has not been answered for 5 seconds; its callers receive the outcome of the new one',
  'REL-116':
    '`destroy()` also ends the search for the cause of a failed request: no timer, listener or request of it remains',
  'REL-76':
    'an emulator with a store goes on where it stopped, also after SIGKILL: no accepted frame is lost, none is processed twice, and tokens, logins and choices stay',
  'REL-77': 'a damaged file of the state of an emulator costs one session or document, with a warning',
  'REL-60': 'an anonymous conversation needs no file beside those that its page has loaded',
  'EL-01':
    'the chat element shows a conversation as its view has it: text, Markdown, sources, options, ratings, hand-overs, masked parts and delivery, and each action of the user reaches the service once',
  'EL-02':
    'the chat element keeps what is written during an outage and delivers it in order, shows the outage after three seconds, and offers to send a message of unknown fate again',
  'EL-03':
    'the chat element shows the conversation and the draft again after a reload, and offers a new conversation when one has ended',
  'EL-04':
    "the chat element works under default-src 'none' with trusted-types 'none' and without a nonce for styles, without a report; only a connector script needs the policy aiagent-connector",
  'EL-05':
    'answers become elements by a list of known tokens, never by HTML; links are https, http, mailto or tel, and images come from allowed origins only',
  'EL-06': 'before the user has agreed, the chat element requests nothing, stores nothing and loads no chunk',
  'EL-07':
    'a chat element that is moved keeps its chat; one that is removed leaves no socket, listener or node; two on a page share nothing',
  'EL-08':
    'the launcher opens the chat with its first click; while it is closed it counts unread messages, in its name too, and says how many there are',
  'EL-09':
    'the chat element works in a frame of another site: it resumes where storage is partitioned, and starts again where there is none',
  'EL-10': 'everything in the chat element can be done by keyboard, and the focus is never lost',
  'EL-11':
    'a screen reader is told each new message once, as plain text, by a region that is always there; what was said before is not told again',
  'EL-12':
    'the chat element fits at 200 % zoom, runs no animation where the user wants none, and follows theme and direction of the language',
  'EL-13':
    'the chat element renders the end of a long conversation first, adds 500 earlier messages unasked and others on request without moving what is in view, and stays quick to type in while messages arrive',
  'EL-14': 'axe-core finds no violation in any state of the chat element, in the light and the dark theme',
  'EL-15': 'header, composer, empty state and texts of the chat element can be replaced by those of the host app',
  'EL-16': 'a hand-over offers each usable way to a human, with an address that opens it',
  'EL-17': 'the user chooses portal, agent and profile in the chat element',
  'EL-19':
    'the chat element asks the user to sign in only after a click on its button, also where a restored login cannot be renewed',
  'EL-18': 'a chat element whose code cannot be loaded says so, reports it, and tries again on request',
  'EL-20':
    'a conversation that is there when the chat element opens is rendered once, with its Markdown; when the code for that is late, it is shown as it was written until then',
  'EL-33':
    'an answer of 128 kB of any kind, with thousands of options and sources, is shown whole, and does not stop the page',
  'REL-170':
    'a view rates messages of the page before, and none of an earlier session, and shows messages that still wait, which can be taken back',
  'REL-171':
    'a message that a crashed page may have sent appears once in the conversation of the next page: as the history shows it, else as unknown, to be sent again on request',
  'EL-21':
    'the chat element sends a message that fits into a frame of 64 KiB, and keeps a longer one in the text field',
  'EL-22':
    'the chat element renders the earlier messages of a conversation unasked, also in a hidden page, and those of a chat that was removed when it is added and shown again; the focus stays, and nothing is announced',
  'EL-23': 'a sign-out empties the text field of the chat element; what the next user writes is kept',
  'EL-24':
    'the launcher can be closed from its first frame, while the chat loads, asks for consent, was declined and failed, also where it covers the page, which is then inert and does not scroll; declining closes it',
  'EL-25':
    'the chat element shows a new answer from its beginning, with a button that leads to the end; who reads above keeps the place, and a restored conversation opens at its end',
  'EL-26':
    'while the window of a login is open, the chat element offers to open it again and to cancel, also where the window was closed at once or an opener policy hides it; a later answer of a cancelled window signs nobody in',
  'EL-27':
    'the launcher shows a heading at once, and fetches the code of the chat ahead on hover, focus and touch, unless the user is asked for consent first',
  'EL-34':
    'where the code of the chat could not be loaded, the launcher and the chat element offer to load it again, and after a second failure to reload the page, since some engines remember a failed import',
  'EL-35': 'the chat element opens one chat where its agent or configuration changes while its code is loaded',
  'EL-36': 'an empty conversation of the chat element offers the questions of the host, of which one click sends one',
  'EL-37':
    'the chat element offers one rating for a turn of the agent, which reaches the service once and stays, thanks for it, and offers a human after a bad one as a message to the agent',
  'EL-38': 'the chat element asks before a new conversation replaces the present one',
  'EL-39':
    'with show-copy, the chat element copies an answer in Markdown and a block of code, masked as they are shown, and says whether the browser took them',
  'EL-40':
    'with the attribute signals, the chat element and the launcher dispatch each step of a conversation once, and none before the consent',
  'EL-42':
    'after a page change a launcher with `resume` loads a conversation of the tab in an idle moment, shows what is unread, opens at the divider above it, and is open again where it was open, without moving the focus or covering a phone; it keeps nothing where the conversation ends with its page, after a sign-out, or before the consent',
  'EL-43':
    'a launcher with `teaser` shows the first line of an unread answer beside its closed button, says it once, takes it away with the answer, and does not show it again once it was dismissed',
  'EL-44':
    'a chat that covers the page stays in the part of the window that an on-screen keyboard leaves, also while that moves, unless the user has zoomed in',
  'EL-45':
    'heading, subtitle and image of the chat element change while it is open; an image that cannot be loaded gives way to the icon',
  'EL-46':
    'the chat element and the launcher dispatch `aiagent-error`, once, for a start that ended and that the user cannot repeat, and for no other',
  'EL-47':
    'a chat element or launcher without endpoint or agent id says once, by the logger of the host, which attribute is missing',
  'EL-48':
    'where the script of a page cannot load the code of its element, the element says so in one line and dispatches `aiagent-error`',
  'SEC-100':
    'an action of a view rejects with ABORTED and has no further effect once the user who began it has left; a sign-in of a visitor, and the change of the user that a login() makes, end none',
  'SEC-101':
    'a required consent counts for the user who gave it: the chat element asks again once that user has left, and until the answer it requests, stores and shows nothing; a visitor who signs in is not asked again',
  'SEC-105':
    'what the chat element copies is what it shows: no comments, definitions, titles of links or words behind the language of code, and no control or invisible characters but those that the text is spelled with',
  'SEC-107':
    'what the launcher keeps of a conversation and of messages it has shown is removed by a sign-out, by a change of the user and by `clearStoredData()`',
  'SEC-106': 'code of an answer is shown without controls that change the direction of text',
  'EL-110':
    'one line of the question stays above an answer that does not fit, and a button leads to the end wherever something of the conversation is cut',
  'EL-111':
    'the chat element says once, in the list and to screen readers, where a session begins that knows nothing of what is above, and that an earlier conversation has expired',
  'EL-112':
    'what is around a text has the direction of the chat or of the page, whatever the direction of the text: corners of bubbles, spaces, sides; a text that is cut shows its beginning, and a draft that returns has its own direction',
  'EL-116':
    'a new conversation begins below the former in the chat element, with one line that says so, also to screen readers; what is above stays to read until the page is left, and the question before says so',
  'EL-117':
    'the teaser takes no message of a session for one of another session that has the same id, and stores no id of either',
  'EL-60':
    'keys with which the user writes in a text field of the chat element (characters, compositions, Enter, Backspace) do not reach bubbling listeners of the page; other keys, and those of slotted nodes and buttons, do',
  'EL-61':
    'an equal `config` of the chat element changes nothing: plain data is compared by value, also circular, instances of classes by identity, functions not at all, and the newest one is called',
  'EL-62':
    'when a conversation ends, the text field keeps its place, text, caret and focus, sends nothing and says why; the panel above it offers first to continue, and asks before a new conversation replaces this one',
  'EL-80':
    'a sign-in window that the browser has blocked is said, visibly and aloud, with what to do and a button that tries again, in the panel and in a conversation',
  'EL-81':
    'the chat element sends the user to a window only once it has opened, becomes neutral after ten seconds, and says nothing of a window where a sign-in leaves the page',
  'EL-82':
    'after fifteen seconds without a service the chat element says so, with "Try now" and the address of `support-email`; while it reconnects it shows when the next attempt follows',
  'EL-83': 'where the service has asked for a wait, the chat element shows it in place of "Try now"',
  'EL-84':
    'the chat element announces messages of the user that are in doubt, were not sent, or were sent late, each change once, whatever the clock of the device does, and what changes together as one sentence with the number',
  'EL-85': 'where a finger points, a tap on an option or a suggestion raises no keyboard',
  'EL-86':
    'what the user writes before the chat is loaded goes into a text field of the launcher, whose text, caret and focus the chat takes over; it presses no button, and is not for the next user',
  'EL-87':
    'Escape closes the launcher with the focus in the chat or on its button, and not while an input method takes it',
  'EL-88': 'the arrow key up brings the text that was sent last back into the empty field, for the same user',
  'EL-89': 'the teaser shows Markdown as plain text, also after a page change, and ends between words',
  'EL-70':
    'nothing but the documented properties, parts and attributes changes the looks of the chat element and of the launcher in a page: places, sizes and text are the same in every state, in each engine',
  'EL-71':
    'the chat element and the launcher are hidden, and let pointers through, where the page says so for them or for what is around them',
  'EL-72':
    'in a page with resets, shortcuts, equal new configurations, a translation and a page change the launcher keeps its place, one conversation and every key',
  'EL-73':
    'the theme of the chat element and of the launcher is that of the attribute, else that of the page where it names its colour schemes, else that of the system',
  'EL-74': 'text is readable on and in any accent colour, in both themes',
  'EL-75': 'the button that leads to the end of the conversation covers nothing of it, unless the window is very low',
  'EL-76':
    'a printed page has the whole conversation, dark on light, between what is above and below it, and no launcher',
  'EL-77':
    'a turn of the agent has one row of tools, which copy all of it; a cell of a table is one line up to a width',
  'EL-78':
    'the chat element leaves room for the conversation: a heading of two lines, the state of the connection once, a small text field in a low window; colours below a pointer are for devices that have one',
  'EL-79': 'nothing moves when a chat replaces what is shown while it loads',
  'EL-90':
    'the chat element shows and says that the user waits for a colleague, who has joined, that a text may not have arrived, and that the chat has ended, and nothing of it any longer than it is true',
  'EL-91':
    'the way to a human leads back to the live desk in place once one was open, and to its address where the host has no desk now',
  'EL-92': 'the chat element passes the conversation to the live desk, and not with `desk-conversation="none"`',
  'EL-93':
    'the chat element saves the conversation as text without marks of Markdown, in the language and the time zone of the user, as a file with the agent and the date in its name',
  'EL-56':
    'an image of an answer is enlarged by a click or by keyboard, above the page and without its styles, until Escape, a click or the end of its conversation; then the focus is where it was; an image in a link leads to the address of the link',
  'EL-50':
    'both builds of the elements split Markdown into the same tokens as the package of the lexer, for every example of CommonMark and for answers as help centers and language models write them',
  'EL-100':
    'the chat element, the terminal and the text for screen readers read Markdown by the same rules: two tildes strike out and one does not, complete comments are cut and nothing beside them, `<br>` is one break, emphasis may stand beside CJK punctuation and bare addresses end before it, tasks keep their boxes and lists their first number',
  'EL-101':
    'of the examples of CommonMark only those are read in another way than the lexer reads them that a named rule of ours is about',
  'EL-102':
    'each paragraph, heading, item, quote and cell of an answer has the direction of its own first letter, and code goes from left to right',
  'EL-103':
    'headings of an answer follow the heading of the chat without leaving a level out, and the box of a task has the text of its line as its name',
  'EL-51':
    'the chat element, the terminal and the text for screen readers resolve the same character references, and none in code',
  'EL-28': 'the chat element and the launcher take the language of the page, also across shadow trees',
  'REL-130': 'a fleet delivers what any of its processes accepted, in order, once for each message id',
  'REL-131':
    'a worker that drains, as on SIGTERM, gives its conversations to the next one at once, with session, context and position',
  'REL-132':
    'what a worker without the lease of a conversation writes is refused, and it sends nothing; a service that compares fencing numbers refuses its connection',
  'REL-133':
    'a message that an earlier worker may have sent is told as unknown, or sent again under its id where the service has receipts',
  'REL-134': 'a fleet rejects what exceeds its limits with a code, and keeps to the rates of its deployment',
  'REL-135':
    'a fleet stores masked texts only, mixes no data of two conversations, and leaves none of one that has ended',
  'REL-136': 'each event of a fleet reaches each process that listens, or one process of each named group',
  'REL-137': 'the workers of a fleet share its conversations evenly, and report their numbers',
  'REL-138': 'a store or a service that fails for a time costs a fleet time, and no message',
  'REL-139':
    'a fleet whose workers are killed and suspended, and whose store hangs, loses and doubles nothing, and no frame leaves without the lease',
  'REL-140': 'a fleet works over a Redis Cluster: all keys of a shard are in one slot, and the shards on all masters',
  'REL-141':
    'a commit of a fleet is stored whole or not at all; a worker whose commits the store refuses for a lasting reason gives up the shard and logs it',
  'REL-142':
    'the id of a message of a fleet is unique in its conversation; equal ids of two conversations are two messages',
  'REL-143': 'a fencing number more than a day ahead of the clock is refused: by the service, by tabs and by a fleet',
  'REL-144':
    'an event of a fleet that cannot be read is logged, kept aside and passed, for listeners with and without a group',
  'REL-145':
    'what agents said in a conversation that has ended is removed once all groups have handled it, and all events after an age; the cache of a worker has a limit',
  'REL-146':
    'a fleet that grows, shrinks or drains calls no answered message unknown, also on the plain wire: only a crash leaves doubt',
  'REL-147': 'a fleet takes a connection of the host, of ioredis 5 or 6',
  'REL-152':
    'a group of processes that listen to a fleet keeps no consumer of a process that has been silent for `redeliverAfterMs`, and its events are delivered to another one first',
  'REL-153': 'a fleet over a cluster asks silent shards less and less often, and each at least five times a second',
  'REL-154': 'a fleet connects again when its Redis server has become a read-only replica, as after a failover',
  'REL-270':
    'a fleet sets the options of `ioredis` that it depends on, whatever the connection of the host has, and refuses a connection with `keyPrefix` or of another package with `config_invalid`',
  'REL-271':
    'a fleet that starts logs a warning for each server of its store whose `maxmemory-policy` evicts, and starts without a word where it may not ask',
  'REL-57': 'an element that does not fit costs nothing but itself, in every list of the service',
  'REL-280':
    'a call that the host itself ends, as with `destroy()`, leaves no unhandled rejection, and rejects for a caller that awaits it',
  'ADOPT-01':
    'the doctor examines a deployment as an agent uses it, leaves the chat that it opens, and reports plain JSON',
  'ADOPT-02': 'the doctor has a stable code and a remedy for each problem, and a broken deployment or page shows each',
  'ADOPT-03': 'a report of the doctor holds no token, no session id and no password',
  'ADOPT-05':
    '`aiagent conform` asks a deployment each rule that any deployment can be asked, and names the rules that need the emulator',
  'REL-191': 'each scenario of `aiagent conform` fails for a service that violates what it claims',
  'REL-192': 'a failed call to an endpoint that redirects names both origins',
  'REL-193': 'the doctor names a rate limit of the deployment, also with a short time limit',
  'REL-194':
    '`aiagent test` reports an unreadable talk and holds the others, and says with `--bless` what was replaced and what failed',
  'ADOPT-06':
    '`aiagent test` holds talks in Markdown with the emulator, a deployment or a recording, and names file and line of each expectation that does not hold',
  'ADOPT-07': 'the talks of the router shop catch by name each of ten articles that was deleted or altered',
  'ADOPT-08':
    'an instrumented agent makes the spans, events and metrics of the conventions for each turn, each connection attempt and each run of initialize()',
  'ADOPT-09': 'telemetry holds no session id, no token and, unless the host asks for it, no text',
  'ADOPT-10': 'the message of every error with code NOT_INITIALIZED holds the words "not initialized"',
  'ADOPT-11':
    '`StorageCacheAdapter` takes a store or the names `session` and `local`, and refuses anything else with a ConfigError',
  'ADOPT-12':
    'a token with "Bearer " before it, in quotes, or inside its JSON answer is sent as it is, no expiry is read from it, and the error of its refusal names what to remove; a promise or an object in place of a token is named as such',
  'ADOPT-13': 'a command in the README of a template is a script of its package.json, from a package that it installs',
  'ADOPT-14':
    'the client declares the global that a connector sets, and a connector written as the guide says works at the address that the guide names',
  'ADOPT-15':
    'a service for tests of hosts refuses a token that lacks the scope of a call, and the agents of a tenant refuse a token that was issued for another one',
  'ADOPT-20': 'a paste of several lines into the terminal is one text, which is sent with Enter',
  'ADOPT-21':
    'in the terminal Ctrl-C clears a line that was begun before it leaves, Backspace removes a character of several parts as a whole, and Tab completes a command',
  'ADOPT-22': 'a status of the terminal stays in one row after its width has changed',
  'ADOPT-04': '`aiagent doctor` exits with 0, with 3 after warnings and with 1 after a failure',
}

/** Rules of sign-in, which scenarios cannot prove without a browser. */
const LOGIN_RULES: ReadonlySet<string> = new Set([
  'CFG-14',
  'INIT-06',
  'INIT-09',
  'AUTH-03',
  'AUTH-05',
  'AUTH-08',
  'AUTH-09',
  'AUTH-10',
  'AUTH-12',
  'AUTH-14',
  'AUTH-15',
  'AUTH-16',
  'AUTH-17',
  'AUTH-18',
  'AUTH-19',
  'AUTH-20',
  'AUTH-21',
  'AUTH-22',
  'AUTH-23',
  'AUTH-24',
])

/** Rules of the playground's page, and rules of trust of the chat element. */
const PAGE_RULES = new Set(['PLAY-02', 'PLAY-03', 'PLAY-04', 'PLAY-05', 'PLAY-06', 'PLAY-12', 'SEC-101', 'SEC-106'])

/** Every rule, with what proves it. */
export const RULES: readonly Rule[] = Object.entries(TEXTS).map(([id, text]) => ({
  id,
  text,
  proof: proofOf(id),
}))

function proofOf(id: string): Proof {
  if (id.startsWith('EL-') || PAGE_RULES.has(id)) return 'page'
  return LOGIN_RULES.has(id) || /^(?:SEC|REL|VIEW|PLAY|ADOPT)-/.test(id) ? 'test' : 'scenario'
}

/** The rule of an id, if there is one. */
export function findRule(id: string): Rule | undefined {
  return RULES.find(rule => rule.id === id)
}
