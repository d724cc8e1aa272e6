import type { ApiHelper } from './api-helper.ts'

/** The language of the REST calls: the host's choice, else the agent's own. It owns both. */
export class LanguageChoice {
  #chosen: string | undefined
  #own: string | null | undefined
  #api: Pick<ApiHelper, 'setLanguage'> | undefined

  /** The host's choice. */
  get chosen(): string | undefined {
    return this.#chosen
  }

  /** The host's choice; blank, null and undefined reset it. */
  choose(code: string | null | undefined): void {
    this.#chosen = code?.trim() || undefined
    this.#apply()
  }

  /** Sets the agent's own language (FLOW-17). */
  learn(code: string | null | undefined): void {
    this.#own = code
    this.#apply()
  }

  /** Sets the helper whose calls send the language from now on. */
  attach(api: Pick<ApiHelper, 'setLanguage'>): void {
    this.#api = api
    this.#apply()
  }

  #apply(): void {
    this.#api?.setLanguage(this.#chosen ?? this.#own)
  }
}
