import type {
  IdentityClient,
  IdentityClientFactory,
  IdentityClientSettings,
  IdentitySession,
  LoginRequest,
  LogoutPlan,
} from '../src/auth/sign-in/identity-client.ts'

/** An identity client with scripted results. Each call is recorded and returns the next result of its list, or the last one. */
export class FakeIdentityClient implements IdentityClient {
  readonly calls: string[] = []
  readonly logins: LoginRequest[] = []
  readonly plans: LogoutPlan[] = []
  settings: IdentityClientSettings | undefined
  restored: () => Promise<IdentitySession | null> = async () => null
  signIn: () => Promise<IdentitySession> = () => Promise.reject(new Error('no session'))
  renewed: (current: IdentitySession) => Promise<IdentitySession> = () => Promise.reject(new Error('no session'))
  signOut: () => Promise<void> = async () => {}

  readonly factory: IdentityClientFactory = settings => {
    this.settings = settings
    return this
  }

  restore(): Promise<IdentitySession | null> {
    this.calls.push('restore')
    return this.restored()
  }
  login(request: LoginRequest): Promise<IdentitySession> {
    this.calls.push(`login ${request.scheme}`)
    this.logins.push(request)
    return this.signIn()
  }
  renew(current: IdentitySession): Promise<IdentitySession> {
    this.calls.push('renew')
    return this.renewed(current)
  }
  logout(plan: LogoutPlan): Promise<void> {
    this.calls.push(`logout ${plan.scheme}`)
    this.plans.push(plan)
    return this.signOut()
  }
}
