import type { IncomingMessage, ServerResponse } from 'node:http'
import type { InteractionResults, Provider } from 'oidc-provider'
import { type LoginParts, loginUsers } from './configuration.ts'
import { errorPage, LOGIN_FIELD, loginPage } from './pages.ts'

/** Maximum size of a form, in bytes. */
const FORM_LIMIT = 4096

/** Shows the login page, and handles its form. */
export async function answerInteraction(
  provider: Provider,
  parts: LoginParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { origin, settings } = parts
  const users = loginUsers(parts)
  const show = (status: number, html: string) => {
    response.writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      ...(settings.loginOpenerPolicy && { 'Cross-Origin-Opener-Policy': settings.loginOpenerPolicy }),
    })
    response.end(html)
  }
  try {
    // Rejects when the login is over, or belongs to another browser.
    await provider.interactionDetails(request, response)
    if (request.method !== 'POST') return show(200, loginPage({ host: new URL(origin).host, users }))
    const form = await readForm(request)
    const accountId = form.get(LOGIN_FIELD.user)
    if (!form.has(LOGIN_FIELD.cancel) && !users.some(user => user.id === accountId))
      return show(400, loginPage({ host: new URL(origin).host, users }))
    const result: InteractionResults =
      accountId === null
        ? { error: 'access_denied', error_description: 'The person cancelled the login.' }
        : { login: { accountId }, consent: {}, select_account: {} }
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
  } catch (error) {
    if (response.headersSent) throw error
    show(400, errorPage('This login is over', `Start again from where you came from. (${describe(error)})`))
  }
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > FORM_LIMIT) throw new Error('The form is too long.')
  }
  return new URLSearchParams(text)
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { error_description: description } = error as { error_description?: unknown }
  return typeof description === 'string' ? description : error.message
}
