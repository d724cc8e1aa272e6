import { matchLanguage } from '../strings/language-around.ts'

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
  da: {
    consentTitle: 'Vil du starte chatten?',
    consentText:
      'Chatten sender dine beskeder til vores tjeneste og gemmer samtalen i din browser. Intet indlæses, før du accepterer.',
    consentAccept: 'Accepter og start',
    consentDecline: 'Nej tak',
    consentDeclined: 'Chatten forbliver slået fra. Du kan starte den når som helst.',
    loadFailed: 'Chatten kunne ikke indlæses.',
    loadAgain: 'Prøv igen',
    reload: 'Genindlæs siden',
  },
  es: {
    consentTitle: '¿Iniciar el chat?',
    consentText:
      'El chat envía sus mensajes a nuestro servicio y guarda la conversación en su navegador. No se carga nada antes de que acepte.',
    consentAccept: 'Aceptar e iniciar',
    consentDecline: 'No, gracias',
    consentDeclined: 'El chat permanece desactivado. Puede iniciarlo en cualquier momento.',
    loadFailed: 'No se ha podido cargar el chat.',
    loadAgain: 'Intentar de nuevo',
    reload: 'Recargar la página',
  },
  fr: {
    consentTitle: 'Démarrer le chat ?',
    consentText:
      'Le chat envoie vos messages à notre service et enregistre la conversation dans votre navigateur. Rien n’est chargé avant votre accord.',
    consentAccept: 'Accepter et démarrer',
    consentDecline: 'Non, merci',
    consentDeclined: 'Le chat reste désactivé. Vous pouvez le démarrer à tout moment.',
    loadFailed: 'Le chat n’a pas pu être chargé.',
    loadAgain: 'Réessayer',
    reload: 'Recharger la page',
  },
  it: {
    consentTitle: 'Avviare la chat?',
    consentText:
      'La chat invia i tuoi messaggi al nostro servizio e salva la conversazione nel tuo browser. Non viene caricato nulla prima del tuo consenso.',
    consentAccept: 'Accetta e avvia',
    consentDecline: 'No, grazie',
    consentDeclined: 'La chat resta disattivata. Puoi avviarla in qualsiasi momento.',
    loadFailed: 'Non è stato possibile caricare la chat.',
    loadAgain: 'Riprova',
    reload: 'Ricarica la pagina',
  },
  nl: {
    consentTitle: 'Chat starten?',
    consentText:
      'De chat stuurt uw berichten naar onze dienst en bewaart het gesprek in uw browser. Er wordt niets geladen voordat u akkoord gaat.',
    consentAccept: 'Akkoord en starten',
    consentDecline: 'Nee, bedankt',
    consentDeclined: 'De chat blijft uit. U kunt hem altijd starten.',
    loadFailed: 'De chat kon niet worden geladen.',
    loadAgain: 'Opnieuw proberen',
    reload: 'Pagina opnieuw laden',
  },
  sv: {
    consentTitle: 'Starta chatten?',
    consentText:
      'Chatten skickar dina meddelanden till vår tjänst och sparar konversationen i din webbläsare. Inget laddas innan du godkänner.',
    consentAccept: 'Godkänn och starta',
    consentDecline: 'Nej tack',
    consentDeclined: 'Chatten förblir avstängd. Du kan starta den när som helst.',
    loadFailed: 'Chatten kunde inte laddas.',
    loadAgain: 'Försök igen',
    reload: 'Ladda om sidan',
  },
  pt: {
    consentTitle: 'Iniciar o chat?',
    consentText:
      'O chat envia as suas mensagens ao nosso serviço e guarda a conversa no seu navegador. Nada é carregado antes do seu acordo.',
    consentAccept: 'Aceitar e iniciar',
    consentDecline: 'Não, obrigado',
    consentDeclined: 'O chat fica desligado. Pode iniciá-lo a qualquer momento.',
    loadFailed: 'Não foi possível carregar o chat.',
    loadAgain: 'Tentar de novo',
    reload: 'Recarregar a página',
  },
  'pt-br': {
    consentTitle: 'Iniciar o chat?',
    consentText:
      'O chat envia suas mensagens ao nosso serviço e guarda a conversa no seu navegador. Nada é carregado antes de você concordar.',
    consentAccept: 'Concordar e iniciar',
    consentDecline: 'Não, obrigado',
    consentDeclined: 'O chat continua desligado. Você pode iniciá-lo quando quiser.',
    loadFailed: 'Não foi possível carregar o chat.',
    loadAgain: 'Tentar novamente',
    reload: 'Recarregar a página',
  },
  ru: {
    consentTitle: 'Начать чат?',
    consentText:
      'Чат отправляет ваши сообщения в наш сервис и хранит беседу в вашем браузере. До вашего согласия ничего не загружается.',
    consentAccept: 'Согласиться и начать',
    consentDecline: 'Нет, спасибо',
    consentDeclined: 'Чат остаётся выключенным. Вы можете начать его в любое время.',
    loadFailed: 'Не удалось загрузить чат.',
    loadAgain: 'Попробовать ещё раз',
    reload: 'Обновить страницу',
  },
  ja: {
    consentTitle: 'チャットを開始しますか',
    consentText:
      'チャットはメッセージを当社のサービスに送信し、会話をブラウザーに保存します。同意するまで何も読み込まれません。',
    consentAccept: '同意して開始',
    consentDecline: 'いいえ',
    consentDeclined: 'チャットはオフのままです。いつでも開始できます。',
    loadFailed: 'チャットを読み込めませんでした。',
    loadAgain: '再試行',
    reload: 'ページを再読み込み',
  },
  ko: {
    consentTitle: '채팅을 시작할까요?',
    consentText:
      '채팅은 메시지를 저희 서비스로 보내고 대화를 브라우저에 저장합니다. 동의하시기 전에는 아무것도 불러오지 않습니다.',
    consentAccept: '동의하고 시작',
    consentDecline: '아니요',
    consentDeclined: '채팅이 꺼져 있습니다. 언제든지 시작할 수 있습니다.',
    loadFailed: '채팅을 불러오지 못했습니다.',
    loadAgain: '다시 시도',
    reload: '페이지 새로 고침',
  },
  'zh-cn': {
    consentTitle: '开始聊天？',
    consentText: '聊天会将您的消息发送到我们的服务，并在您的浏览器中保存对话。在您同意之前不会加载任何内容。',
    consentAccept: '同意并开始',
    consentDecline: '不，谢谢',
    consentDeclined: '聊天保持关闭。您可以随时开始。',
    loadFailed: '无法加载聊天。',
    loadAgain: '重试',
    reload: '重新加载页面',
  },
}

/** The texts of the first of the wanted languages that there are texts for, and how it is written. */
export function consentStrings(wanted: readonly (string | null | undefined)[]): ConsentStrings & { direction: string } {
  const code = matchLanguage(wanted, name => Object.hasOwn(TEXTS, name))
  return { ...(TEXTS[code] as ConsentStrings), direction: code === 'ar' ? 'rtl' : 'ltr' }
}
