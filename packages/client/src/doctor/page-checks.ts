import type { StorageLike } from '../platform/environment.ts'
import { isReachable, VIOLATION_WAIT_MS } from '../platform/network-failure.ts'
import { sleep } from '../util/abort.ts'
import type { Examination } from './examination.ts'
import { failed, passed, skipped, type Verdict, warning } from './report.ts'

const NO_PAGE = 'Not checked: this is not a page.'
/** The stores of the page can be written. */
export function checkStorage({ environment }: Examination): Verdict {
  if (!environment.page) return skipped(NO_PAGE)
  const blocked = (['sessionStorage', 'localStorage'] as const).filter(name => !canStore(environment[name]))
  if (blocked.length === 0) return passed('Session storage and local storage can be written.')
  return warning('STORAGE_BLOCKED', `The page cannot write to ${blocked.join(' and ')}.`)
}

function canStore(store: StorageLike | undefined): boolean {
  const key = 'aiagent_doctor'
  try {
    store?.setItem(key, '1')
    const isKept = store?.getItem(key) === '1'
    store?.removeItem(key)
    return isKept
  } catch {
    return false
  }
}

/** A login of this page could work: secure context, opener policy, popups. */
export async function checkLogin({ environment, options }: Examination): Promise<Verdict> {
  const window = environment.page?.window
  if (!window) return skipped(NO_PAGE)
  if (!window.isSecureContext) return warning('PAGE_INSECURE', 'The page is not served with https.')
  const response = await environment
    .fetch(window.location.href, { method: 'HEAD', cache: 'no-store' })
    .catch(() => undefined)
  const policy = response?.headers.get('cross-origin-opener-policy') ?? ''
  if (/^same-origin(?!-allow-popups)/.test(policy))
    return warning(
      'POPUP_OPENER_CUT',
      `The page has the Cross-Origin-Opener-Policy ${policy}: popups lose their opener.`,
    )
  if (!options.popup) return passed('The page is secure. Whether popups open is only seen in a click.')
  const popup = window.open('about:blank', '_blank', 'popup,width=100,height=100')
  popup?.close()
  return popup ? passed('Popups open.') : warning('POPUP_BLOCKED', 'The browser blocked a popup.')
}

/** The service allows this page to call it. */
export async function checkCors(examination: Examination): Promise<Verdict> {
  const { environment, unreachable, options } = examination
  const window = environment.page?.window
  if (!window) return skipped(NO_PAGE)
  const refusing: string[] = []
  for (const origin of unreachable) {
    if (!origin.startsWith('http')) continue
    if (await isReachable(environment, origin, options.timeoutMs, options.signal)) refusing.push(origin)
  }
  if (refusing.length === 0) return passed('No request was refused for its origin.')
  return failed('CORS_BLOCKED', `${refusing.join(', ')} answers, but not to pages of ${window.location.origin}.`)
}

/** The content security policy allows what the conversation needs. */
export async function checkPolicy({ environment, violations }: Examination): Promise<Verdict> {
  if (!environment.page) return skipped(NO_PAGE)
  await sleep(environment.clock, VIOLATION_WAIT_MS)
  if (violations.size === 0) return passed('The content security policy blocked nothing.')
  const blocked = [...violations].map(([origin, directive]) => `${origin} (${directive})`)
  return failed('CSP_BLOCKED', `The content security policy of the page blocks ${blocked.join(', ')}.`)
}
