import { RestApi } from './rest-api.ts'

/**
 * The REST calls of the service, each with a time limit of 30 seconds. Can be used without an `AiAgent`.
 *
 * A failing call rejects with an {@link ApiError} that names it, or with an {@link AuthError} (`token_missing`) before any
 * request where it needs a token and there is none.
 */
// A class of its own that nothing else imports: bundlers load an exported class with the entry when a lazy chunk uses it.
export class ApiHelper extends RestApi {}
