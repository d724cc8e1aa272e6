/*
 * When each error occurs, and what to do. The types make the tables complete: a new code or reason of the library does not compile
 * without its row here. `npm run docs` writes the rows into docs/guide/errors.md. Nothing of this is in the packages.
 */
import type {
  ApiErrorReason,
  AuthErrorReason,
  ConnectionErrorReason,
  InitializationPipelineErrorCode,
  MessageErrorReason,
  SDKErrorCode,
} from '@aiagent/client'

/** When an error occurs, and what to do about it. */
export interface Remedy {
  readonly when: string
  readonly todo: string
}

/** A code, with its class, and with its reasons where there are several. */
export interface ErrorEntry<Reason extends string = never> extends Partial<Remedy> {
  readonly class: string
  /** The sentence below the heading. */
  readonly text: string
  readonly reasons?: Readonly<Record<Reason, Remedy>>
}

/** Reasons by code. */
interface Reasons {
  API_ERROR: ApiErrorReason
  AUTH_ERROR: AuthErrorReason
  CONNECTION_ERROR: ConnectionErrorReason
  MESSAGE_ERROR: MessageErrorReason
}

type PlainCode = Exclude<SDKErrorCode, InitializationPipelineErrorCode | keyof Reasons>

type Entries = {
  readonly [Code in keyof Reasons]: Required<Pick<ErrorEntry<Reasons[Code]>, 'reasons'>> & ErrorEntry
} & {
  readonly [Code in PlainCode]: Remedy & ErrorEntry
}

/** Every code except those of the portal selection. */
export const ERRORS = {
  CONFIG_INVALID: {
    class: 'ConfigError',
    text: 'A field of the configuration is missing or invalid; `field` names it.',
    when: 'the constructor rejects the configuration, or `initialize()` finds that the address of a connector is missing or forbidden',
    todo: 'correct the field',
  },
  MODULE_LOAD_FAILED: {
    class: 'SDKError',
    text: 'The code of a feature that loads on demand is missing, or did not arrive within 30 seconds; the message names the feature.',
    when: '`initialize()` could not load the contact center, the login or the code of `auth`, `updateAccessToken()` that code, `logout()` the login, or `explain()` its texts. Without `resume`, `persistQueue` or `tabs` an agent works, and logs a warning',
    todo: 'check the deployment of the files; reload the page. Browsers since about mid-2026 load the file with the next call, older ones remember the failure for the life of the page, so that `retryInitialize` ends after four failures in a row',
  },
  NOT_INITIALIZED: {
    class: 'SDKError',
    text: 'The agent is not ready yet.',
    when: '`connect()` or `restartConnection()` before `initialize()`',
    todo: 'await `initialize()` first',
  },
  SESSION_ID_INVALID: {
    class: 'SDKError',
    text: 'A session id cannot be used.',
    when: 'a session id is blank or a placeholder, from the host or the service',
    todo: 'omit it to create a new session',
  },
  ABORTED: {
    class: 'SDKError',
    text: 'The call ended on request; `cause` is the reason of the signal.',
    when: 'a `signal` was aborted, `disconnect()` came before the chat was open, or the agent was destroyed',
    todo: 'nothing: it was requested',
  },
  API_ERROR: {
    class: 'ApiError',
    text: 'A REST call failed. `method` and `path` name it; `status` and `body` are those of the response, if any.',
    reasons: {
      status: {
        when: 'the service answered a REST call with an error',
        todo: "by status; 401: the message says why the token was rejected; 404: check the agent's id; 429: the call was repeated three times, after at most 30 s each, with the event `rateLimited`",
      },
      network: {
        when: 'the service could not be reached; the message names the address and, if the platform reveals it, the cause (nothing listens, unknown host, http or https, certificate, CORS, content security policy)',
        todo: 'by cause; otherwise retry: `initialize()` starts clean',
      },
      timeout: { when: 'no complete response within 30 s', todo: 'retry' },
      body: {
        when: 'the response is invalid JSON, empty, truncated, or has another shape',
        todo: 'report it to the operator of the deployment',
      },
      aborted: { when: 'the caller of `ApiHelper` aborted the call', todo: 'nothing' },
      redirect: {
        when: 'the service answered with a redirect, which a call with a token or a body does not follow; the message names the origin, and on Node also the target',
        todo: 'configure the address that the service itself answers at',
      },
    },
  },
  SESSION_UNAUTHORIZED: {
    class: 'ApiError',
    text: 'No session without a valid token; `reason` is `status`.',
    when: 'the service rejected the token for a session, also after a renewal',
    todo: 'sign in again; the token must be valid for five more minutes',
  },
  AUTH_ERROR: {
    class: 'AuthError',
    text: 'Obtaining a token, signing in or signing out failed. `status` is that of the token endpoint, if it responded.',
    reasons: {
      token_missing: {
        when: 'there is no token, or the service rejects the current one',
        todo: 'supply one: `auth`, `updateAccessToken()`',
      },
      token_request_failed: {
        when: "the token endpoint, or the host's function, failed",
        todo: 'retry; `status` is the status of the response, if any',
      },
      metadata_failed: {
        when: 'the deployment does not name its token endpoint',
        todo: 'check that anonymous access is enabled',
      },
      interaction_required: {
        when: 'the user has to sign in, but there is no page, or the token cannot be renewed silently',
        todo: 'pass `auth`, or call `initialize()` within a click',
      },
      popup_blocked: { when: 'the browser blocked the window', todo: 'start it within a click' },
      popup_closed: {
        when: 'the user closed the window, or cancelled on the login page',
        todo: 'offer the login again',
      },
      popup_timeout: {
        when: 'the identity library received no answer within its time limit',
        todo: 'offer the login again',
      },
      browser_unsupported: {
        when: 'no page, no encryption (http), no store, a full sessionStorage for a login by redirect, or an unfinished earlier sign-in',
        todo: 'reload; free sessionStorage; serve the page over https',
      },
      invalid_input: {
        when: '`auth` has an unsupported shape, a login lacks a field, or a token is blank',
        todo: 'correct it',
      },
      not_supported: {
        when: 'client credentials in a browser; an agent without a known `userType`',
        todo: 'use another `auth`; report the agent',
      },
    },
  },
  CONNECTION_ERROR: {
    class: 'ConnectionError',
    text: 'The chat could not be opened, or was lost. `closeCode` is the close code, if any.',
    reasons: {
      refused: {
        when: 'the service, or a gateway in front of it, rejects the connection; `httpStatus` outside browsers',
        todo: 'nothing: the library retries',
      },
      timeout: { when: 'the chat did not open within 10 s', todo: 'nothing: the library retries' },
      closed: {
        when: 'closed before it was open, right after it, or because the session ended',
        todo: 'nothing, unless the state is `CLOSED`: then `connect()`',
      },
      attempts_used_up: {
        when: '`maxReconnectAttempts` is reached',
        todo: 'call `connect()` later, such as when the user asks for it',
      },
      no_address: {
        when: 'neither agent nor deployment names a chat host',
        todo: 'report it to the operator of the deployment',
      },
    },
  },
  MESSAGE_ERROR: {
    class: 'MessageError',
    text: 'A message was refused, dropped, not answered, or unreadable. `messageId` is that of the outgoing message.',
    reasons: {
      invalid: {
        when: 'the argument of `send()` or `setContext()` is not a valid message or context',
        todo: 'correct it',
      },
      encoding_failed: {
        when: 'it cannot be converted to JSON, or the `toJSON()` of its data returns no object',
        todo: 'remove circular references and BigInts; return an object',
      },
      masking_unavailable: {
        when: '`masking.required` is set and no rules are active; the log says why',
        todo: 'inform the user; `restartConnection()` loads the rules again',
      },
      queue_full: {
        when: '`maxQueueSize` messages are queued already; this one was not recorded',
        todo: 'connect, or raise the limit',
      },
      cleared: { when: 'a queued message was dropped', todo: 'send it again if it is still needed' },
      unreadable: { when: 'a received frame cannot be parsed; the chat continues', todo: 'nothing' },
      timeout: {
        when: 'no answer to `ask()` came within `timeoutMs`',
        todo: 'ask again, or tell the user that it takes longer',
      },
      closed: {
        when: 'the chat or its session ended before the answer to `ask()` came',
        todo: '`connect()`, and ask again',
      },
      refused: {
        when: 'the service reported an error while `ask()` waited',
        todo: "inform the user; the text is the service's",
      },
    },
  },
  CONNECTOR_FAILED: {
    class: 'ConnectorError',
    text: "The platform's connector script failed; `url` is its address and `cause` the original error. It rejects `initialize()`.",
    when: 'the script could not be loaded, or one of its functions failed',
    todo: 'check the address, the policy of the page, and the functions of the script',
  },
} as const satisfies Entries

/** Codes of an `InitializationPipelineError`. */
export const PIPELINE_ERRORS: Readonly<Record<InitializationPipelineErrorCode, Remedy>> = {
  AUTH_TOKEN_REQUIRED: { when: 'there is no token to load the portals', todo: 'see `cause`' },
  PORTAL_FETCH_FAILED: { when: 'the portals could not be loaded', todo: 'retry' },
  NO_PORTALS: {
    when: 'no portal is available to this user for this agent',
    todo: 'ask the administrator of the portals',
  },
  DEPARTMENT_ID_REQUIRED: {
    when: 'neither agent nor `initParams.departmentId` names a department',
    todo: 'set it',
  },
  PORTAL_DETAILS_FAILED: {
    when: 'the details of the selected portal could not be loaded, or the user may not use it',
    todo: 'select another',
  },
  NO_AGENTS_FOR_PORTAL: { when: 'the portal has no agents, or they could not be loaded', todo: 'select another' },
  PROFILE_FETCH_FAILED: { when: 'the profiles could not be loaded', todo: 'select again' },
  PROFILE_PERSIST_FAILED: { when: 'the service rejected the selected profile', todo: 'select again' },
  INVALID_SELECTION: {
    when: 'the id is not in the list, or no selection is open; a running chat continues',
    todo: 'use an id of the list',
  },
}

const anchor = (id: string) => `<a id="${id}"></a>`

/** The reference of all codes as Markdown: a heading and an anchor for each code, and an anchor for each reason. */
export function errorReference(): string {
  const sections = Object.entries<ErrorEntry<string>>(ERRORS).map(([code, entry]) => {
    const rows = entry.reasons
      ? Object.entries(entry.reasons).map(
          ([reason, { when, todo }]) => `| ${anchor(`${code}.${reason}`)}\`${reason}\` | ${when} | ${todo} |`,
        )
      : [`| ${entry.when} | ${entry.todo} |`]
    const head = entry.reasons ? '| `reason` | When | What to do |\n|---|---|---|' : '| When | What to do |\n|---|---|'
    return `${anchor(code)}\n\n### ${code}\n\n\`${entry.class}\`. ${entry.text}\n\n${head}\n${rows.join('\n')}`
  })
  return sections.join('\n\n')
}

/** The codes of the portal selection as a table, with an anchor for each. */
export function pipelineReference(): string {
  const rows = Object.entries(PIPELINE_ERRORS).map(
    ([code, { when, todo }]) => `| ${anchor(code)}\`${code}\` | ${when} | ${todo} |`,
  )
  return `| \`pipelineCode\` | When | What to do |\n|---|---|---|\n${rows.join('\n')}`
}
