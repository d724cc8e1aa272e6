/** Texts that come with the element, since nothing may be loaded before the user has agreed, or nothing can be. */
export interface ConsentStrings {
  /** Heading of the question for consent. */
  readonly consentTitle: string
  /** What the user agrees to. */
  readonly consentText: string
  /** Button that gives the consent and opens the chat. */
  readonly consentAccept: string
  /** Button that declines. */
  readonly consentDecline: string
  /** Shown after the user has declined. */
  readonly consentDeclined: string
  /** The code of the chat could not be loaded. */
  readonly loadFailed: string
  /** Button that loads the code of the chat again after a failure. */
  readonly loadAgain: string
  /** Button that reloads the page after a second failure. */
  readonly reload: string
}

const TEXTS: Readonly<Record<string, ConsentStrings>> = {
  en: {
    consentTitle: 'Start the chat?',
    consentText:
      'The chat sends your messages to our service and stores the conversation in your browser. Nothing is loaded before you agree.',
    consentAccept: 'Agree and start',
    consentDecline: 'No, thanks',
    consentDeclined: 'The chat stays off. You can start it at any time.',
    loadFailed: 'The chat could not be loaded.',
    loadAgain: 'Try again',
    reload: 'Reload the page',
  },
  de: {
    consentTitle: 'Chat starten?',
    consentText:
      'Der Chat sendet Ihre Nachrichten an unseren Dienst und speichert die Unterhaltung in Ihrem Browser. Vor Ihrer Zustimmung wird nichts geladen.',
    consentAccept: 'Zustimmen und starten',
    consentDecline: 'Nein, danke',
    consentDeclined: 'Der Chat bleibt aus. Sie können ihn jederzeit starten.',
    loadFailed: 'Der Chat konnte nicht geladen werden.',
    loadAgain: 'Erneut versuchen',
    reload: 'Seite neu laden',
  },
  ar: {
    consentTitle: 'هل تريد بدء المحادثة؟',
    consentText: 'ترسل المحادثة رسائلك إلى خدمتنا وتحفظ الحوار في متصفحك. لا يُحمَّل أي شيء قبل موافقتك.',
    consentAccept: 'موافقة وبدء',
    consentDecline: 'لا، شكرًا',
    consentDeclined: 'تبقى المحادثة متوقفة. يمكنك بدؤها في أي وقت.',
    loadFailed: 'تعذر تحميل المحادثة.',
    loadAgain: 'إعادة المحاولة',
    reload: 'إعادة تحميل الصفحة',
  },
}

/** The texts of the first of the wanted languages that there are texts for, and how it is written. */
export function consentStrings(wanted: readonly (string | null | undefined)[]): ConsentStrings & { direction: string } {
  const codes = wanted.map(code => code?.toLowerCase().split('-')[0] ?? '')
  const code = codes.find(name => name in TEXTS) ?? 'en'
  return { ...(TEXTS[code] as ConsentStrings), direction: code === 'ar' ? 'rtl' : 'ltr' }
}
