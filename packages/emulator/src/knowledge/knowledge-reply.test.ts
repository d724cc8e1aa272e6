import { ROLE } from '@aiagent/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer, Reply, ReplyRequest } from '../chat/reply.ts'
import { loadKnowledge } from '../node/load-knowledge.ts'
import { type Article, parseArticle } from './article.ts'
import { createKnowledgeReply } from './knowledge-reply.ts'

const escalation = { liveDomain: 'live.example', entrypointUrl: 'https://live.example/enter' }

async function ask(
  reply: Reply,
  text: string,
  history: ReplyRequest['history'] = [],
  isDeskOpen = true,
): Promise<readonly Answer[]> {
  const answers = await reply({ text, context: {}, history, random: () => 0.5, escalation, isDeskOpen })
  return 'content' in answers ? [answers] : answers
}

const sourcesOf = (answers: readonly Answer[]) => answers.flatMap(answer => answer.messageData?.sources ?? [])
const optionsOf = (answers: readonly Answer[]) => answers.flatMap(answer => answer.messageData?.options ?? [])

describe('the included help center', () => {
  let articles: Article[]
  let reply: Reply
  beforeAll(async () => {
    articles = await loadKnowledge()
    reply = createKnowledgeReply(articles)
  })

  it.each([
    ['How do I reset my router?', 'reset'],
    ['how can i restore the factory settings', 'reset'],
    ['I forgot the administrator password, what now?', 'wifi-password'],
    ['The internet is not working', 'lights'],
    ['How do I log in to the router?', 'setting-up-the-router'],
    ['what is the default password', 'wifi-password'],
    ['where can I see my bill', 'invoice'],
    ['my kid is online all night', 'parental-controls'],
    ['How do I change my Wi-Fi password?', 'wifi-password'],
    ['change wifi pasword', 'wifi-password'],
    ['I lost my wireless key', 'wifi-password'],
    ['Where do I find the SSID?', 'wifi-password'],
    ['Why is my internet so slow?', 'slow-connection'],
    ['My Wi-Fi keeps dropping every few hours', 'slow-connection'],
    ['videos are buffering all the time in the evening', 'slow-connection'],
    ['What does the red light mean?', 'lights'],
    ['the LED is blinking orange', 'lights'],
    ['Can I turn the lights off at night?', 'lights'],
    ['How do I update the firmware?', 'firmware-update'],
    ['Is there a new software version?', 'firmware-update'],
    ['How do I set up a guest network?', 'guest-network'],
    ['My friends are visiting and want wifi', 'guest-network'],
    ['Can I return the router after two weeks?', 'returns'],
    ['When do I get my refund?', 'returns'],
    ['How long is the warranty?', 'warranty'],
    ['My router is broken and does not turn on', 'warranty'],
    ['Where is my order?', 'delivery'],
    ['How much does shipping cost?', 'delivery'],
    ['My parcel has not arrived yet', 'delivery'],
    ['I need a copy of my invoice', 'invoice'],
    ['Can I pay by credit card?', 'invoice'],
    ['Is there Wi-Fi coverage upstairs with a repeater?', 'mesh'],
    ['How many satellites can I add?', 'mesh'],
    ['Can I block websites for my kids?', 'parental-controls'],
    ['limit the screen time of my son', 'parental-controls'],
    ['How do I open a port for my game console?', 'port-forwarding'],
    ['What are your opening hours?', 'contact'],
    ['What is your phone number?', 'contact'],
    ['How do I install my new router?', 'setting-up-the-router'],
    ['Which cables do I have to connect?', 'setting-up-the-router'],
    ['How do I delete my account?', 'account'],
    ['Please unsubscribe me from the newsletter', 'account'],
    [
      'Hello, I bought a router last month. It worked fine, but since yesterday the internet light is red and nothing loads. What should I do?',
      'lights',
    ],
  ])('answers "%s" from the article %s', async (question, id) => {
    const answers = await ask(reply, question)
    const article = articles.find(candidate => candidate.id === id)
    expect(sourcesOf(answers)).toEqual([{ title: article?.title, url: `https://help.router-shop.example/${id}` }])
    expect(answers[0]?.messageData?.reasoning).toContain(article?.title)
  })

  it.each([
    'What is the capital of France?',
    'Can you recommend a good restaurant nearby?',
    'Who won the football match last night?',
    'How tall is Mount Everest?',
    'Write me a poem about autumn',
    'How do I renew my passport?',
    'What will the weather be like tomorrow?',
    'How do I bake sourdough bread?',
    'Do you sell bicycles?',
    'How do I reset my dishwasher?',
    'Is the human body electrically conductive?',
    'asdf qwertz',
    'What time is it?',
    'How old are you?',
    'Is it going to rain on Sunday?',
    'How do I lose weight?',
  ])('answers that no article covers "%s", and offers a human', async question => {
    const answers = await ask(reply, question)
    expect(answers[0]?.content).toMatch(/no article.*human/)
    expect(sourcesOf(answers)).toEqual([])
    const offered = optionsOf(answers).at(-1) ?? ''
    expect((await ask(reply, offered))[0]?.messageData?.escalation).toBe(true)
  })

  it.each([
    ['How do I reset my router?', 'paper clip'],
    ['How can I restart the router without losing my settings?', 'thirty seconds'],
    ['What is erased when I reset the router?', 'port forwarding'],
    ['What does delivery abroad cost?', '8.90'],
    ['How long does a refund take?', 'five working days'],
    ['Is lightning covered by the warranty?', 'Lightning'],
    ['Can I download an invoice again?', 'Save or print the PDF'],
    ['What if the firmware update fails?', 'second memory'],
    ['I forgot the administrator password', 'only a reset helps'],
    ['My satellite is orange', 'too far away'],
    ['what time do you close', 'holidays we are closed'],
    ['Are you open on Sundays?', 'On Sundays and public holidays we are closed'],
  ])('answers "%s" with the passage that contains "%s"', async (question, words) => {
    const [answer] = await ask(reply, question)
    expect(answer?.content).toContain(words)
    expect(answer?.content.length).toBeLessThan(1_100)
  })

  it('offers related articles as options, and each option of every article is answered from another article', async () => {
    for (const article of articles) {
      const answers = await ask(reply, `${article.title}`)
      expect(sourcesOf(answers)).toEqual([{ title: article.title, url: article.url }])
      expect(answers[1]?.role).toBe(ROLE.FOLLOW_UP_QUESTION)
      const options = optionsOf(answers)
      expect(options).toHaveLength(article.related.length)
      for (const [index, option] of options.entries()) {
        const related = articles.find(({ id }) => `${id}.md` === article.related[index])
        expect(sourcesOf(await ask(reply, option))).toEqual([{ title: related?.title, url: related?.url }])
      }
    }
  })

  it('has about 15 articles of 150 to 400 words, each with an address and related articles that exist', () => {
    expect(articles.length).toBeGreaterThanOrEqual(15)
    for (const article of articles) {
      const words = article.body.split(/\s+/).length
      expect(words, article.id).toBeGreaterThan(150)
      expect(words, article.id).toBeLessThan(400)
      expect(article.url).toBe(`https://help.router-shop.example/${article.id}`)
      expect(articles.map(({ id }) => `${id}.md`)).toEqual(expect.arrayContaining([...article.related]))
    }
  })

  it('names other ways to a human while the desk is closed', async () => {
    const [answer] = await ask(reply, 'I want to talk to a human', [], false)
    expect(answer?.messageData).toMatchObject({ escalation: true, escalationData: { live: false, email: true } })
    expect(answer?.messageData?.escalationData?.phoneNumber).toMatch(/^\+44/)
  })

  it('hands over to a human with escalation data when asked', async () => {
    const answers = await ask(reply, 'I want to talk to a human')
    expect(answers).toHaveLength(1)
    expect(answers[0]?.messageData).toMatchObject({ escalation: true, escalationData: { live: true, ...escalation } })
    expect(answers[0]?.content).toMatch(/human/)
  })

  it.each([
    ['Hello!', /^Hello/],
    ['good morning', /^Hello/],
    ['Thanks a lot, that helped!', /welcome/],
    ['Bye', /^Goodbye/],
    ['Thank you, goodbye', /^Goodbye/],
    ['Are you a real person?', /automated/],
    ['yes', /tell me/],
    ['No, thanks', /anything else/],
    ["That didn't help", /sorry.*human/],
    ['   ', /empty/],
    ['', /empty/],
  ])('answers "%s" politely and without a source', async (text, words) => {
    const answers = await ask(reply, text)
    expect(answers[0]?.content).toMatch(words)
    expect(sourcesOf(answers)).toEqual([])
  })

  it('treats a yes to the offer of a human as a request for one', async () => {
    const history = (await ask(reply, 'What is the capital of France?')).map(({ content }) => ({
      from: 'agent' as const,
      content,
    }))
    expect((await ask(reply, 'Yes, please', history))[0]?.messageData?.escalation).toBe(true)
    expect((await ask(reply, 'Yes, please'))[0]?.messageData?.escalation).toBeUndefined()
  })

  it('names questions that it can answer when asked for help in general', async () => {
    const options = optionsOf(await ask(reply, 'What can you do?'))
    expect(options.length).toBeGreaterThan(0)
    for (const option of options) expect(sourcesOf(await ask(reply, option))).toHaveLength(1)
  })

  it('returns one or more well-formed answers to any text, and the same to the same text', async () => {
    const words = fc.constantFrom(
      'reset',
      'router',
      'human',
      'talk',
      'to',
      'a',
      '?',
      '\n',
      '…',
      'Wi-Fi',
      '日本語',
      '__proto__',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words).map(parts => parts.join(' ')),
    )
    await fc.assert(
      fc.asyncProperty(text, async asked => {
        const answers = await ask(reply, asked)
        expect(answers[0]?.content.trim()).not.toBe('')
        expect(await ask(reply, asked)).toEqual(answers)
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    ['one endless word', 'x'.repeat(130_000)],
    ['one character', '日'.repeat(40_000)],
    ['prefixes of a request', 'connect me to the real '.repeat(5_600)],
    ['hyphens', 'wi-'.repeat(43_000)],
  ])('answers a message of the maximum length that contains %s', async (_name, text) => {
    expect((await ask(reply, text))[0]?.content).toMatch(/no article/)
  })

  it('answers a message of the maximum frame size', async () => {
    const answers = await ask(reply, 'please reset my router '.repeat(5_600))
    expect(sourcesOf(answers)).toEqual([expect.objectContaining({ url: 'https://help.router-shop.example/reset' })])
  })
})

describe('a folder of one article', () => {
  const fact = 'The Quibblestone lamp must be fed with three drops of lemon oil every Tuesday, or it hums at night.'

  it.each([
    ['without front matter', fact, 'lamp.md', 'lamp'],
    ['with a heading', `# Caring for the lamp\n\n${fact}`, 'lamp.md', 'Caring for the lamp'],
    [
      'with front matter',
      `---\ntitle: Lamp care\nurl: https://kb.example/lamp\n---\n${fact}`,
      'https://kb.example/lamp',
      'Lamp care',
    ],
  ])('answers questions about its fact with the source, %s', async (_name, markdown, url, title) => {
    const reply = createKnowledgeReply([parseArticle(markdown, 'lamp.md')])
    for (const question of [
      'How often must I feed the Quibblestone lamp?',
      'what do I give the quibblestone',
      'Why does my lamp hum at night?',
      'When was the Quibblestone lamp invented?',
      'lemon oil',
    ]) {
      const answers = await ask(reply, question)
      expect(answers).toHaveLength(1)
      expect(answers[0]?.content, question).toContain(fact)
      expect(sourcesOf(answers)).toEqual([{ title, url }])
    }
    for (const question of [
      'How do I reset my router?',
      'Which train goes to Vienna?',
      'What is the best olive bread recipe?',
    ]) {
      expect(sourcesOf(await ask(reply, question)), question).toEqual([])
    }
  })

  it('answers about a name even if the rest of the question uses other words', async () => {
    const reply = createKnowledgeReply([
      parseArticle('Glimmerwick was established in 1843 by two clockmakers.', 'history.md'),
    ])
    expect(sourcesOf(await ask(reply, 'When was Glimmerwick founded?'))).toEqual([
      { title: 'history', url: 'history.md' },
    ])
  })

  it('answers in a script without blanks between words', async () => {
    const reply = createKnowledgeReply([parseArticle('# 営業時間\n\n図書館は月曜日に閉まっています。', 'hours.md')])
    expect(sourcesOf(await ask(reply, '図書館は月曜日に閉まっていますか?'))).toHaveLength(1)
    expect(sourcesOf(await ask(reply, '天気予報を教えて'))).toEqual([])
  })
})

describe('articles of other kinds', () => {
  it('answers with the paragraphs around the best one when an article is long and has no headings', async () => {
    const filler = Array.from(
      { length: 40 },
      (_, index) => `Paragraph ${index} speaks at length about ordinary gardening matters.`,
    )
    const body = [...filler.slice(0, 30), 'The secret gate opens with a copper key.', ...filler.slice(30)].join('\n\n')
    const [answer] = await ask(
      createKnowledgeReply([parseArticle(body, 'garden.md')]),
      'Which key opens the secret gate?',
    )
    expect(answer?.content).toContain('copper key')
    expect(answer?.content.length).toBeLessThanOrEqual(1_050)
  })

  it('cuts a single paragraph that is too long at its sentences', async () => {
    const body = `${'An ordinary sentence about gardening stands here. '.repeat(100)}The gate opens with a copper key. ${'More of the same follows after it. '.repeat(100)}`
    const [answer] = await ask(createKnowledgeReply([parseArticle(body, 'garden.md')]), 'Which key opens the gate?')
    expect(answer?.content).toContain('The gate opens with a copper key.')
    expect(answer?.content.length).toBeLessThanOrEqual(1_050)
  })

  const LONG = 'a'.repeat(20)
  it.each([
    ['a table', ['| Part | Price |', '|---|--:|'], (at: number) => `| Hinge ${at} ${LONG} | ${at} |`, []],
    ['a list', ['Take these parts:'], (at: number) => `- Hinge ${at} ${LONG}\n  and its screw`, []],
    ['ordered steps', [], (at: number) => `${at + 1}. Hinge ${at} ${LONG}`, []],
    ['code', ['~~~~sh'], (at: number) => `hinge ${at} ${LONG} ~~~`, ['~~~~']],
    ['code with empty lines', ['```sh'], (at: number) => `hinge ${at} ${LONG}\n`, ['```']],
  ])(
    '[VIEW-51] cuts %s that is too long between its rows, items or lines, and keeps both ends',
    async (_kind, head, row, end) => {
      const rows = Array.from({ length: 90 }, (_, at) => (at === 60 ? row(at).replace(LONG, 'emerald gate') : row(at)))
      const body = ['# Gate', '', ...head, ...rows, ...end].join('\n')
      const [answer] = await ask(
        createKnowledgeReply([parseArticle(body, 'gate.md')]),
        'Which hinge has the emerald gate?',
      )
      const lines = answer?.content.split('\n') ?? []
      expect(answer?.content).toContain('emerald')
      expect(answer?.content.length).toBeLessThanOrEqual(1_050)
      expect(lines.slice(0, head.length)).toEqual(head)
      expect(lines.slice(lines.length - end.length)).toEqual(end)
      const kept = lines
        .slice(head.length, lines.length - end.length)
        .join('\n')
        .trim()
      expect(rows.join('\n')).toContain(kept)
      expect(kept.split('\n').length).toBeGreaterThan(10)
    },
  )

  it('[VIEW-51] keeps a list and the sentences above it apart when it leaves paragraphs out', async () => {
    const filler = 'An ordinary sentence about gardening stands here. '.repeat(12).trim()
    const list = '- First the *emerald* key\n\n  which opens the gate\n- Then the lock'
    const body = [filler, filler, list, filler].join('\n\n')
    const [answer] = await ask(createKnowledgeReply([parseArticle(body, 'gate.md')]), 'emerald key gate')
    expect(answer?.content.length).toBeLessThanOrEqual(1_050)
    expect(answer?.content).toContain(list)
  })

  it('[VIEW-51] carries the addresses of definitions into the section that names them', async () => {
    const body =
      '# Gate\n\nIntro.\n\n## Keys\n\nThe [plan][map], [Shop][] and [shop], but `[map]` and [x].\n\n## End\n\nDone.\n\n[Map]: <https://maps.example/gate>\n[shop]: https://shop.example "Shop"'
    const [answer] = await ask(createKnowledgeReply([parseArticle(body, 'gate.md')]), 'keys plan')
    expect(answer?.content).toBe(
      '**Keys**\n\nThe [plan](https://maps.example/gate), [Shop](https://shop.example "Shop") and [shop](https://shop.example "Shop"), but `[map]` and [x].',
    )
  })

  it('[VIEW-51] shows a heading with the characters of its text', async () => {
    const body = '# Gate\n\nIntro.\n\n## Use `a*b*` &amp; **snake_case** {#use}\n\nThe emerald key.'
    const article = parseArticle(body, 'gate.md')
    expect(article.sections[1]?.heading).toBe('Use a*b* & snake_case')
    const [answer] = await ask(createKnowledgeReply([article]), 'emerald key')
    expect(answer?.content).toBe('**Use a\\*b\\* \\& snake\\_case**\n\nThe emerald key.')
  })

  it('omits pictures, comments and links that work only on their page', async () => {
    const body =
      'See ![a picture](gate.png)the [plan](plan.md) and the [map](https://maps.example/gate).<!-- check this -->'
    const [answer] = await ask(createKnowledgeReply([parseArticle(body, 'gate.md')]), 'gate plan')
    expect(answer?.content).toBe('See the plan and the [map](https://maps.example/gate).')
  })

  it('answers that there are no articles', async () => {
    const answers = await ask(createKnowledgeReply([]), 'How do I reset my router?')
    expect(answers[0]?.content).toMatch(/no articles/)
    expect(sourcesOf(answers)).toEqual([])
  })

  it('ignores related articles that do not exist, and the article itself', async () => {
    const article = parseArticle('---\ntitle: Gate\nrelated: [gone.md, gate.md]\n---\nThe gate is green.', 'gate.md')
    expect(await ask(createKnowledgeReply([article]), 'gate')).toHaveLength(1)
  })
})
