import type { UserSeed } from '../../world/seed.ts'

/** The contents of the login page. */
export interface LoginPageFacts {
  /** Address of the deployment, for display. */
  host: string
  users: readonly UserSeed[]
}

/** Names of the form fields. */
export const LOGIN_FIELD = { user: 'user', cancel: 'cancel' } as const

/** A button for each user who may sign in here, by role. No password: there is nothing to protect. */
export function loginPage({ host, users }: LoginPageFacts): string {
  const people = users
    .map(
      ({ id, name, email }) =>
        `<li><button name="${LOGIN_FIELD.user}" value="${asText(id)}">${asText(name)}` +
        `${email === undefined ? '' : `<small>${asText(email)}</small>`}</button></li>`,
    )
    .join('\n')
  return page(
    'Sign in',
    `<p>Who are you at ${asText(host)}?</p>
<form method="post">
<ul>
${people}
</ul>
<button class="quiet" name="${LOGIN_FIELD.cancel}" value="yes">Cancel</button>
</form>`,
  )
}

/** The error, in the wording of its source. */
export function errorPage(title: string, details: string): string {
  return page(title, `<p role="alert">${asText(details)}</p>`)
}

/** Submits the form of a logout immediately, so that the user need not confirm it. */
export function logoutPage(form: string): string {
  return page(
    'Signing out',
    `${form.replace('</form>', '<input type="hidden" name="logout" value="yes"><button>Sign out</button></form>')}
<script>document.forms[0].submit()</script>`,
  )
}

export function signedOutPage(): string {
  return page('Signed out', '<p>You are signed out. This window may be closed.</p>')
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${asText(title)}</title>
<style>
:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif }
main { max-width: 24rem; margin: 10vh auto; padding: 0 1rem }
ul { list-style: none; padding: 0 }
button { font: inherit; width: 100%; margin-bottom: .5rem; padding: .75rem 1rem; text-align: left; cursor: pointer }
button.quiet { width: auto; padding: .25rem 1rem }
small { display: block; opacity: .8 }
</style>
</head>
<body>
<main>
<h1>${asText(title)}</h1>
${content}
</main>
</body>
</html>
`
}

function asText(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}
