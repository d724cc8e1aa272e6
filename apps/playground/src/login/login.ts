import '../styles/base.css'
import './login.css'
import { answerPageLogin, DEFAULT_WORLD, type PageLoginRequest, readPageLogin } from '@aiagent/emulator'

/** The users of a login: those of its tenant and of its kind. */
function usersOf({ tenantId, userType }: PageLoginRequest) {
  const [first] = DEFAULT_WORLD.tenants
  return DEFAULT_WORLD.users.filter(user => user.userType === userType && (user.tenantId ?? first?.id) === tenantId)
}

function button(label: string, detail: string, answer: string | undefined): HTMLButtonElement {
  const element = document.createElement('button')
  const small = document.createElement('small')
  small.textContent = detail
  element.append(label, small)
  element.addEventListener('click', () => location.replace(answerPageLogin(location.href, answer)))
  return element
}

function show(request: PageLoginRequest, root: HTMLElement): void {
  const title = document.createElement('h1')
  title.textContent = 'Who signs in?'
  const text = document.createElement('p')
  text.textContent = 'The users of the emulator need no password.'
  const users = usersOf(request).map(({ id, name, email }) => button(name, email ?? id, id))
  root.replaceChildren(title, text, ...users, button('Cancel', '', undefined))
}

function start(root: HTMLElement): void {
  const request = readPageLogin(location.href, DEFAULT_WORLD.tenants)
  if (!request) root.textContent = 'The address of this page does not describe a sign-in.'
  else if (request.kind === 'sign-out') {
    if (request.returnTo === undefined) return window.close()
    // The callback page recognizes the end of a sign-out by this parameter, or by the state.
    const target = new URL(request.returnTo)
    const state = new URL(location.href).searchParams.get('state')
    if (state !== null) target.searchParams.set('state', state)
    location.replace(target)
  } else if (request.isSilent) location.replace(answerPageLogin(location.href, undefined))
  else show(request, root)
}

const root = document.getElementById('login')
if (root) start(root)
