import type { LanguageTexts } from './chat-strings.ts'
import { fr } from './fr.ts'

/** French of Canada. */
export const frCa: LanguageTexts = {
  ...fr,
  language: 'fr-CA',
  title: 'Clavardage',
  emptyTitle: 'Comment pouvons-nous vous aider?',
  restartAsk:
    'Commencer une nouvelle conversation? L’assistant n’aura plus connaissance de celle-ci. Vous pourrez la lire jusqu’à ce que vous quittiez cette page.',
  choosePortal: 'Où souhaitez-vous aller?',
  chooseAgent: 'À qui souhaitez-vous parler?',
  escalationLive: 'Démarrer un clavardage en direct',
  errorDesk: 'Le clavardage avec notre équipe n’a pas fonctionné. Vous pouvez continuer ici avec l’assistant.',
  deskWith: name => `Vous clavardez avec ${name}`,
  deskEnded: 'Le clavardage avec notre équipe est terminé. L’assistant reprend.',
  deskElsewhere: 'Votre clavardage avec notre équipe est ouvert dans un autre onglet.',
  sms: number => `Envoyer un texto au ${number}`,
  email: 'Écrire un courriel',
  errorTitle: 'Le clavardage n’est pas disponible',
}
