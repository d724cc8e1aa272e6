/** What an answer is about: its subject, where to do it, an amount, a page, and a sentence in another script. */
type Topic = readonly [subject: string, place: string, amount: string, page: string, foreign: string]

const TOPICS: readonly Topic[] = [
  ['Returns', 'Orders', '3~5 days', 'https://help.test/returns', '返品は**「14日以内」**にお願いします。'],
  [
    'Invoices',
    'Billing & tax',
    '5&nbsp;&euro;',
    'www.help.test/invoices?year=2026&lang=de',
    'Gr&uuml;&szlig;e aus Z&uuml;rich',
  ],
  [
    'Delivery',
    'Parcels',
    '7–10 days',
    'https://help.test/a_b_c/delivery',
    '詳しくは https://help.test/ja/配送。次に進みます。',
  ],
  [
    'Two-factor sign-in',
    'Account *security*',
    '30 s',
    'https://help.test/2fa#codes',
    '인증 코드는 **6자리(숫자)**입니다.',
  ],
  ['Gift cards', 'Wallet', '$25 – $500', 'https://help.test/gift(cards)', '礼品卡**不可退款。**请保存收据。'],
  ['Opening hours', 'Shops', '9&ndash;17', 'mailto:desk@help.test', 'ساعات العمل من **9** إلى 17'],
  ['Wi-Fi', 'Settings → Network', '2.4 GHz', 'http://192.168.0.1/', 'Сначала **выключите** роутер.'],
  ['Warranty', 'Devices', '24 months', '<https://help.test/warranty>', 'Garantie légale : « deux ans »'],
  ['Subscriptions', 'Plans', '9,99 €/month', 'https://help.test/plans*all*', 'Puedes cancelar *cuando quieras*.'],
  ['Address change', 'Profile', '1 minute', 'https://help.test/profile "new"', 'כתובת **חדשה** נשמרת מיד'],
  ['Passwords', 'Sign-in', '12+ characters', 'https://help.test/p\\_w', 'รหัสผ่านต้องมี **12** ตัวอักษร'],
  ['Bookings', 'Trips', '1 <= nights <= 14', 'https://help.test/trips?from=[x]', '预订：**请提前2~3天**'],
  ['Spare parts', 'Shop', '№ 4711_A_2', 'ftp://help.test/parts', 'Ersatzteile: _auf Anfrage_'],
  ['Data export', 'Privacy', '2 GB', 'https://help.test/export.', 'Οδηγίες: **αρχείο**'],
  ['Loyalty points', 'Rewards', '1.000 P', 'desk@help.test', 'पॉइंट **एक साल** तक मान्य हैं।'],
  ['Prescriptions', 'Documents', '2 x 500 mg', 'https://help.test/rx;v=1', 'Ordonnance `valable` 3 mois'],
  ['Tickets', 'Events', 'A1~A9', 'https://help.test/e/🎫', 'チケットは~~紙~~電子のみ。'],
  ['Roaming', 'Mobile', '0.23 €/MB', 'https://help.test/roam, then', 'Veri paketi ***yurt dışı***'],
  ['Recycling', 'Home', '#3 and #5', 'https://help.test/r#3', 'Återvinning – se *sidan*'],
  ['Complaints', 'Contact', '100 %', 'https://help.test/c?x=1&copy=2', '投诉（**24小时**）'],
]

/** How help centers and language models write. */
const FORMS: readonly ((topic: Topic) => string)[] = [
  // Steps with a paragraph, a note and code inside an item.
  ([subject, place, amount, page, foreign]) => `## ${subject}

1. Open the app.

   Choose **${place}**. It takes ${amount}.

2. Scroll to *${subject}*.

   > **Note:** ${foreign}

   \`\`\`sh
   open ${page}
   \`\`\`
3. Done.`,
  // Nested lists with and without empty lines.
  ([subject, place, amount, page, foreign]) => `To change ${subject.toLowerCase()}:

* **${place}**: ${amount}
  * [Help](${page})
    1. first
    2. second
  * ${foreign}

* And then

  another paragraph of the item

  - with a list
- another list`,
  // Tasks.
  ([subject, place, amount, , foreign]) => `- [ ] Unpack **${subject}** &amp; check
- [x] ${place}
  - [ ] ${amount}

- [ ] ${foreign}

1. [x] one
2. [ ] two`,
  // A table.
  ([subject, place, amount, page, foreign]) => `| ${subject} | Time | Where |
|:---|---:|:---:|
| ${place} | ${amount} | ${page} |
| \`a \\| b\` | **${foreign}** |
| line<br>break | ~~old~~ | ![logo](${page}) | too many |

After the table.`,
  // References and definitions.
  ([subject, place, amount, page, foreign]) => `See [${subject}][1] or [${place}], also [this][Ref].
${foreign} (${amount})

[1]: ${page} "${subject}"
[ref]: <${page}>
[${place}]: /relative`,
  // HTML and comments.
  ([subject, place, amount, page, foreign]) => `<!-- version 2 --> ${subject} is at ${place}.<br>
${foreign} <b>${amount}</b>
<br/>
<details>
<summary>More</summary>

**${page}**

</details>

<p>${subject}</p> <!-- end`,
  // Plain lines, addresses and hard breaks.
  ([subject, place, amount, page, foreign]) => `Hello!
${subject}: ${amount}  
${place}\\
${page} and (${page}), "${page}"
${foreign}
— The team`,
  // Headings of both kinds, rules, quotes within quotes, and titles with marks.
  ([subject, place, amount, page, foreign]) => `${subject}
===

### ${place} ###
---
> ${foreign}
> > ${amount}
continued lazily

***
${page}
---
#${subject}`,
  // Code in all forms.
  ([subject, place, amount, page, foreign]) => `Run \`\`${subject} \` ${place}\`\`:

    ${page}
    ${amount}

~~~~json title="${subject}"
{ "place": "${place}" }
~~~
${foreign}
~~~~

\`\`\`
never closed: ${page}`,
  // Marks that nest, touch words, or do not close.
  ([subject, place, amount, page, foreign]) => `***${subject}** and ${place}* **${foreign}** __${amount}__s
*open **${subject}* closed** snake_case_${amount} 2*3*4 ~${amount}~ ~~${place}~~
![${subject} [nested]](${page} 'title') [*${place}*](<${page}>) \\*no\\* &copy; &#8364; &#x20AC; &bogus;`,
]

/** Two hundred answers in the manner of help centers and language models. */
export const WRITTEN_ANSWERS: readonly string[] = TOPICS.flatMap(topic => FORMS.map(form => form(topic)))
