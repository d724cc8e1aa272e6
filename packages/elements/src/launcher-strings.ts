import { matchLanguage } from './strings/language-around.ts'

/**
 * What the launcher says before the texts of the chat are there: the code of the chat could not be loaded, the buttons that load
 * it again and reload the page, the button that closes, and the name of the launcher where it is not "Chat".
 */
const TEXTS: Readonly<Record<string, readonly [string, string, string, string, label?: string]>> = {
  en: ['The chat could not be loaded.', 'Try again', 'Reload the page', 'Close'],
  de: ['Der Chat konnte nicht geladen werden.', 'Erneut versuchen', 'Seite neu laden', 'Schließen'],
  ar: ['تعذر تحميل المحادثة.', 'إعادة المحاولة', 'إعادة تحميل الصفحة', 'إغلاق', 'محادثة'],
  da: ['Chatten kunne ikke indlæses.', 'Prøv igen', 'Genindlæs siden', 'Luk'],
  es: ['No se ha podido cargar el chat.', 'Intentar de nuevo', 'Recargar la página', 'Cerrar'],
  fr: ['Le chat n’a pas pu être chargé.', 'Réessayer', 'Recharger la page', 'Fermer'],
  it: ['Non è stato possibile caricare la chat.', 'Riprova', 'Ricarica la pagina', 'Chiudi'],
  nl: ['De chat kon niet worden geladen.', 'Opnieuw proberen', 'Pagina opnieuw laden', 'Sluiten'],
  sv: ['Chatten kunde inte laddas.', 'Försök igen', 'Ladda om sidan', 'Stäng'],
  pt: ['Não foi possível carregar o chat.', 'Tentar de novo', 'Recarregar a página', 'Fechar'],
  'pt-br': ['Não foi possível carregar o chat.', 'Tentar novamente', 'Recarregar a página', 'Fechar'],
  ru: ['Не удалось загрузить чат.', 'Попробовать ещё раз', 'Обновить страницу', 'Закрыть', 'Чат'],
  ja: ['チャットを読み込めませんでした。', '再試行', 'ページを再読み込み', '閉じる', 'チャット'],
  ko: ['채팅을 불러오지 못했습니다.', '다시 시도', '페이지 새로 고침', '닫기', '채팅'],
  'zh-cn': ['无法加载聊天。', '重试', '重新加载页面', '关闭', '聊天'],
}

/** Texts of the launcher, in the first of the wanted languages that there are texts for; else in English. */
export function launcherTexts(wanted: readonly (string | null | undefined)[]) {
  const code = matchLanguage(wanted, name => Object.hasOwn(TEXTS, name))
  const [loadFailed, loadAgain, reload, close, label = 'Chat'] = TEXTS[code] as (typeof TEXTS)[string]
  return { loadFailed, loadAgain, reload, close, label }
}
