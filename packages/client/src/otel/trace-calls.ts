import { DEPLOYMENT_INFO_PATH, paths } from '@aiagent/protocol'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { ATTRIBUTE, KIND, STATUS_ERROR } from './names.ts'
import type { Attributes, TelemetryContext, TelemetryTracer } from './telemetry-types.ts'

/** Options of `traceCalls()`. */
export interface TracedCallsOptions {
  /** Makes the spans. */
  tracer: TelemetryTracer
  /** The function to trace. @default the platform's */
  fetch?: Environment['fetch']
  /**
   * Sends the header `traceparent`. In a page it makes every call to another origin a preflighted one, and the service must
   * allow the header.
   *
   * @default false
   */
  traceparent?: boolean
}

/** A `fetch` with a span for each request. */
export interface TracedCalls {
  /** For the second argument of `AiAgent`. */
  fetch: Environment['fetch']
  /** The parent of the next spans; `instrument()` sets it. */
  parent: TelemetryContext | undefined
}

/**
 * Traces REST calls: `new AiAgent(config, { fetch: calls.fetch })`, then `instrument(agent, { tracer, calls })`. Spans have the
 * template of the path, never the path itself: it may contain a session id.
 */
export function traceCalls({ tracer, fetch, traceparent = false }: TracedCallsOptions): TracedCalls {
  const send = fetch ?? defaultEnvironment().fetch
  /** Requests that were refused for their rate, by method and address: the next one repeats them. */
  const resends = new Map<string, number>()
  const calls: TracedCalls = {
    parent: undefined,
    async fetch(input, init) {
      const { hostname, port, pathname, protocol } = new URL(input)
      const method = init?.method ?? 'GET'
      const template = templateOf(pathname)
      const request = `${method} ${pathname}`
      const resent = resends.get(request) ?? 0
      const attributes: Attributes = {
        [ATTRIBUTE.METHOD]: method,
        [ATTRIBUTE.ADDRESS]: hostname,
        [ATTRIBUTE.PORT]: Number(port) || (protocol === 'https:' ? 443 : 80),
        ...(template && { [ATTRIBUTE.TEMPLATE]: template }),
        ...(resent > 0 && { [ATTRIBUTE.RESEND]: resent }),
      }
      const isToken = new Headers(init?.headers).get('content-type')?.startsWith(FORM)
      const name = template ? `${method} ${template}` : isToken ? `${method} token` : method
      const span = tracer.startSpan(name, { kind: KIND.CLIENT, attributes }, calls.parent)
      const fail = (type: string) => {
        span.setAttribute(ATTRIBUTE.ERROR, type)
        span.setStatus({ code: STATUS_ERROR })
      }
      try {
        const headers = new Headers(init?.headers)
        const { traceId, spanId, traceFlags } = span.spanContext()
        const flags = traceFlags.toString(16).padStart(2, '0')
        if (traceparent) headers.set('traceparent', `00-${traceId}-${spanId}-${flags}`)
        const response = await send(input, traceparent ? { ...init, headers } : init)
        span.setAttribute(ATTRIBUTE.STATUS, response.status)
        if (response.status >= 400) fail(String(response.status))
        if (response.status === 429) resends.set(request, resent + 1)
        else resends.delete(request)
        return response
      } catch (error) {
        fail(error instanceof Error ? error.name : 'error')
        throw error
      } finally {
        span.end()
      }
    },
  }
  return calls
}

/** The media type of token requests; the service's own calls send JSON. */
const FORM = 'application/x-www-form-urlencoded'

/** Templates of all paths of the service, with patterns that match them. */
const TEMPLATES = /* @__PURE__ */ listTemplates()

function listTemplates() {
  const templates = [
    DEPLOYMENT_INFO_PATH,
    paths.agentDetails(':agentId'),
    paths.session(':agentId'),
    paths.portals(),
    paths.myPortals(),
    paths.portalDetails(':portalId'),
    paths.agentsByPortal(':departmentId', ':portalId'),
    paths.userProfiles(':portalId'),
    paths.selectUserProfile(':portalId', ':profileId'),
    paths.userDetails(),
    paths.customerDetails(),
    paths.maskingPatterns(':departmentId', ':channel'),
    paths.connectedApps(':tenantId', ':agentId'),
    paths.previousTranscript(':agentId', ':sessionId'),
    paths.metadataOfDeployment(),
    paths.metadataOfTenant(':tenantId'),
  ]
  return templates.map(path => ({
    template: path.replace(/:(\w+)/g, '{$1}'),
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}$`),
  }))
}

/** The template of a path; undefined for a path that is not one of the service's, such as a token endpoint. */
function templateOf(path: string): string | undefined {
  return TEMPLATES.find(({ pattern }) => pattern.test(path))?.template
}
