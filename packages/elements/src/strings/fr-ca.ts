import type { ChatStrings } from './chat-strings.ts'
import { fr } from './fr.ts'
import { plural } from './plural.ts'

/** French of Canada. */
export const frCa: ChatStrings = {
  ...fr,
  language: 'fr-CA',
  title: 'Clavardage',
  unread: plural('fr-CA', { one: '# nouveau message', other: '# nouveaux messages' }),
  emptyTitle: 'Comment pouvons-nous vous aider?',
  choosePortal: 'Où souhaitez-vous aller?',
  chooseAgent: 'À qui souhaitez-vous parler?',
  escalationLive: 'Démarrer un clavardage en direct',
  sms: number => `Envoyer un texto au ${number}`,
  email: 'Écrire un courriel',
  errorTitle: 'Le clavardage n’est pas disponible',
}
