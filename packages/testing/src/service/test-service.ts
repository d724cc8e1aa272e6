import {
  type Answer,
  createEmulator,
  type EmulatedSocketClass,
  type Emulator,
  type EmulatorOptions,
  type ReplyRequest,
} from '@aiagent/emulator'

/** An emulated service for one test. */
export interface TestService {
  /** Address of the service, for `AiAgentConfig.endpoint`. */
  readonly endpoint: string
  /** The emulator: faults, controls, settings and the world. */
  readonly emulator: Emulator
  /**
   * Has the agent give an answer from now on, instead of repeating the user's text.
   *
   * @param answer the text, an answer with its data, or a function of the message; undefined restores the default
   */
  answerWith(answer: string | Answer | ((request: ReplyRequest) => string | Answer) | undefined): void
  /** Id of the newest session; undefined without one. */
  sessionId(): string | undefined
  /** Texts of the user in a session as they arrived, that is masked where masking is on. @default the newest session */
  userTexts(sessionId?: string): string[]
  /** Shuts the service down. */
  close(): Promise<void>
  /** Calls {@link TestService.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A {@link TestService} in this process, without a port. */
export interface LocalTestService extends TestService {
  /** The second argument of `AiAgent`. */
  readonly environment: {
    readonly fetch: (input: string, init?: RequestInit) => Promise<Response>
    readonly WebSocket: EmulatedSocketClass
  }
}

/**
 * Creates a service in this process, for Node and for tests in a page. The agent repeats what the user says, and each token needs the
 * scopes of its calls.
 */
export function createTestService(options: EmulatorOptions = {}): LocalTestService {
  const answers = new Answers()
  const emulator = createEmulator(strict({ reply: answers.reply, ...options }))
  const close = async () => emulator.close()
  return {
    ...describeService(emulator, answers),
    endpoint: emulator.origin,
    environment: { fetch: emulator.fetch, WebSocket: emulator.WebSocket },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The options of a service that is not kinder than a deployment, unless a test wants it. */
export function strict<Options extends EmulatorOptions>(options: Options): Options {
  return { ...options, settings: { checkScopes: true, ...options.settings } }
}

/** The answers of the agent, which a test may change. */
export class Answers {
  #answer: (request: ReplyRequest) => Answer = repeat

  /** For `EmulatorOptions.reply`. */
  readonly reply = (request: ReplyRequest): Answer => this.#answer(request)

  /** See {@link TestService.answerWith}. */
  readonly use: TestService['answerWith'] = answer => {
    this.#answer = request => {
      const given = typeof answer === 'function' ? answer(request) : (answer ?? repeat(request))
      return typeof given === 'string' ? { content: given } : given
    }
  }
}

const repeat = ({ text }: ReplyRequest): Answer => ({ content: `You said: ${text}` })

/** The members of a service that do not depend on how it is reached. */
export function describeService(
  emulator: Emulator,
  answers: Answers,
): Pick<TestService, 'emulator' | 'answerWith' | 'sessionId' | 'userTexts'> {
  const sessionId = () => [...emulator.world.sessions.keys()].at(-1)
  return {
    emulator,
    answerWith: answers.use,
    sessionId,
    userTexts: (id = sessionId()) =>
      id === undefined
        ? []
        : emulator.control
            .frames(id)
            .flatMap(({ message }) => (message?.role === 'human' && message.content ? [message.content] : [])),
  }
}
