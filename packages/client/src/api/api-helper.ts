import { RestApi } from './rest-api.ts'

/**
 * The REST calls of the service, each with a time limit of 30 seconds. Can be used without an `AiAgent`.
 *
 * A failing call rejects with an {@link ApiError} that names it. A call that needs a token and has none rejects with an
 * {@link AuthError} (`token_missing`) before any request.
 */
// A separate class that no other module imports: if a lazy chunk uses an exported class, bundlers load it with the
// entry.
export class ApiHelper extends RestApi {}
