import { ROLE } from '@aiagent/protocol'
import type { Answer, Reply, ReplyRequest } from '../chat/reply.ts'
import type { Article } from './article.ts'
import { createArticleIndex, type Match } from './article-index.ts'
import { asksForHuman } from './human-request.ts'
import { pickPassage } from './passage.ts'
import { recogniseSmallTalk, type SmallTalk } from './small-talk.ts'

const ASK_FOR_HUMAN = 'I want to talk to a human'
/** In characters; of a longer message the beginning is looked at, so that a pasted book keeps nobody waiting. */
const LONGEST_QUESTION = 4_000
const MOST_OPTIONS = 3
/** Part of a question that an article must cover to be offered, in a refusal, as perhaps meant. */
const NEAR = 0.3

/** Ways to a human while the desk is closed: those of the included help center. */
const OTHER_WAYS = { phone: true, phoneNumber: '+44 20 7946 0000', email: true }

const OFFER_OF_HUMAN = 'Would you like to talk to a human?'

const SMALL_TALK: Readonly<Record<Exclude<SmallTalk, 'help' | 'complaint'>, string>> = {
  greeting: 'Hello! What can I help you with?',
  thanks: 'You are welcome. Is there anything else I can help you with?',
  goodbye: 'Goodbye, and thank you for writing to us.',
  identity:
    'I am an automated agent and answer from our help articles. If you would rather talk to a human, just say so.',
  agreement: 'All right. Please tell me in a few words what you would like to know.',
  refusal: 'All right. Just write when there is anything else.',
}

/**
 * Makes an agent that answers from articles: with the passage that fits best and its source, then with related articles
 * as options. It says so when no article fits, hands over when asked for a human, and answers small talk politely.
 *
 * Uses neither time nor chance: the same articles and the same message give the same answer.
 */
export function createKnowledgeReply(articles: readonly Article[]): Reply {
  const index = createArticleIndex(articles)
  const byName = indexByName(articles)
  const byQuestion = new Map(articles.map(article => [normalise(toQuestion(article.title)), article]))

  return request => {
    const { text: whole, history } = request
    const text = whole.trim().slice(0, LONGEST_QUESTION)
    if (text === '')
      return { content: 'Your message was empty. What would you like to know?', messageData: { sources: [] } }
    if (asksForHuman(text)) return escalate(request)
    const smallTalk = recogniseSmallTalk(text)
    if (smallTalk === 'agreement' && lastFromAgent(history) === OFFER_OF_HUMAN) return escalate(request)
    if (smallTalk === 'help') return introduce(articles)
    if (smallTalk === 'complaint') return apologise()
    if (smallTalk !== undefined) return { content: SMALL_TALK[smallTalk], messageData: { sources: [] } }

    // A chosen option comes back as its text, and must lead to its article whatever the search thinks of it.
    const chosen = byQuestion.get(normalise(text))
    if (chosen !== undefined)
      return answer(chosen, text, `Article "${chosen.title}": its title is the question.`, byName)
    const matches = index.find(text)
    const best = matches[0]
    if (best === undefined || !best.fits) return refuse(matches, articles.length)
    return answer(
      best.article,
      text,
      `Article "${best.article.title}": it holds ${quoteAll(best.matched)} of the question.`,
      byName,
    )
  }
}

function answer(article: Article, question: string, why: string, byName: ReadonlyMap<string, Article>): Answer[] {
  const passage = pickPassage(article, question)
  const reasoning = passage.heading === undefined ? why : `${why} Answered from its section "${passage.heading}".`
  const sources = [{ title: article.title, url: article.url }]
  const answers: Answer[] = [{ content: passage.text, messageData: { sources, reasoning } }]
  const related = article.related
    .map(name => byName.get(toName(name)))
    .filter((found): found is Article => found !== undefined && found !== article)
    .slice(0, MOST_OPTIONS)
  if (related.length > 0)
    answers.push(
      offer(
        'Would you like to know more?',
        related.map(({ title }) => toQuestion(title)),
      ),
    )
  return answers
}

function refuse(matches: readonly Match[], articleCount: number): Answer[] {
  const near = matches
    .filter(({ coverage, sharesSubject }) => sharesSubject && coverage >= NEAR)
    .slice(0, MOST_OPTIONS - 1)
  const content =
    articleCount === 0
      ? 'I have no articles to answer from. I can connect you to a human if you like.'
      : 'I am sorry, I found no article that answers this. Put it in other words, or I can connect you to a human.'
  const closest = matches[0] && `; the closest is "${matches[0].article.title}" with ${quoteAll(matches[0].matched)}`
  const reasoning =
    articleCount === 0 ? 'There are no articles.' : `No article covers enough of the question${closest ?? ''}.`
  const question = near.length > 0 ? 'Did you mean one of these?' : OFFER_OF_HUMAN
  return [
    { content, messageData: { sources: [], reasoning } },
    offer(question, [...near.map(({ article }) => toQuestion(article.title)), ASK_FOR_HUMAN]),
  ]
}

function apologise(): Answer[] {
  const content =
    'I am sorry that this did not help. You can put your question in other words, or I can connect you to a human.'
  return [{ content, messageData: { sources: [] } }, offer(OFFER_OF_HUMAN, [ASK_FOR_HUMAN])]
}

function escalate({ escalation, isDeskOpen }: ReplyRequest): Answer {
  if (!isDeskOpen)
    return {
      content: 'My colleagues are not at their desk now. You can reach them in these ways.',
      messageData: {
        sources: [],
        reasoning: 'The customer asked for a human, and the desk is closed.',
        escalation: true,
        escalationData: { live: false, ...OTHER_WAYS },
      },
    }
  return {
    content: 'Of course. I am handing you over to a human now; please stay in this chat.',
    messageData: {
      sources: [],
      reasoning: 'The customer asked for a human.',
      escalation: true,
      escalationData: { live: true, liveDomain: escalation.liveDomain, entrypointUrl: escalation.entrypointUrl },
    },
  }
}

function introduce(articles: readonly Article[]): Answer | Answer[] {
  if (articles.length === 0) return refuse([], 0)
  const content =
    'Ask me a question in your own words: I look for the answer in our help articles and tell you where it stands.'
  const options = articles.slice(0, MOST_OPTIONS).map(({ title }) => toQuestion(title))
  return [{ content, messageData: { sources: [] } }, offer('For example:', options)]
}

function offer(content: string, options: readonly string[]): Answer {
  return { content, role: ROLE.FOLLOW_UP_QUESTION, messageData: { options: [...new Set(options)] } }
}

const lastFromAgent = (history: ReplyRequest['history']) => history.findLast(({ from }) => from === 'agent')?.content

/** Articles under each name that `related` may call them by: with and without their folder. */
function indexByName(articles: readonly Article[]): Map<string, Article> {
  const byName = new Map<string, Article>()
  for (const article of articles) {
    const base = article.id.slice(article.id.lastIndexOf('/') + 1).toLowerCase()
    if (!byName.has(base)) byName.set(base, article)
  }
  for (const article of articles) byName.set(article.id.toLowerCase(), article)
  return byName
}

const toName = (fileName: string) =>
  fileName
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\.md$/i, '')
    .toLowerCase()

/** A title as a person would ask it: "How to reset your router" becomes "How do I reset my router?". */
function toQuestion(title: string): string {
  if (/[?？]\s*$/.test(title)) return title.trim()
  const [, word, rest] = /^(how|what|when|where) to (.+)$/i.exec(title) ?? []
  if (word === undefined || rest === undefined) return `${title.trim()}?`
  return `${word} do I ${rest.replace(/\byour\b/gi, 'my').trim()}?`
}

const normalise = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const quoteAll = (words: readonly string[]) => words.map(word => `"${word}"`).join(', ')
