/** An answer in Markdown, and what everything that shows answers makes of it. */
interface MarkdownAnswer {
  readonly name: string
  readonly markdown: string
  /** In the chat element, without what is the same everywhere. */
  readonly html: string
  /** In the terminal, without colours. */
  readonly terminal: string
  /** For screen readers. */
  readonly spoken: string
  /** In the clipboard. */
  readonly copied: string
}

/** The same answers for all of them. */
export const MARKDOWN_ANSWERS: readonly MarkdownAnswer[] = [
  {
    name: 'a range with one tilde',
    markdown: 'Takes 3~5 days, ~7~ abroad, ~~not 9~~.',
    html: '<p>Takes 3~5 days, ~7~ abroad, <del>not 9</del>.</p>',
    terminal: 'Takes 3~5 days, ~7~ abroad, ~~not 9~~.',
    spoken: 'Takes 3~5 days, ~7~ abroad, not 9.',
    copied: 'Takes 3~5 days, ~7~ abroad, ~~not 9~~.',
  },
  {
    name: 'a comment before text',
    markdown: '<!-- v2 --> Do not **press** it.',
    html: '<p>Do not <strong>press</strong> it.</p>',
    terminal: 'Do not press it.',
    spoken: 'Do not press it.',
    copied: 'Do not **press** it.',
  },
  {
    name: 'a comment within a line and in HTML',
    markdown: 'a <!-- b --> **c**\n\n<div>\n<!-- d\n-->e</div>',
    html: '<p>a  <strong>c</strong></p><p>&lt;div&gt;\ne&lt;/div&gt;</p>',
    terminal: 'a  c\n\n<div>\ne</div>',
    spoken: 'a c\ne',
    copied: 'a  **c**\n\n<div>\ne</div>',
  },
  {
    name: 'a comment over blank lines',
    markdown: 'a\n<!-- b\n\nc -->\nd',
    html: '<p>a</p><p>d</p>',
    terminal: 'a\n\nd',
    spoken: 'a\nd',
    copied: 'a\n\nd',
  },
  {
    name: 'a comment without an end',
    markdown: '<!-- start of the widget\n\nCall **us**. a <!-- b',
    html: '<p>&lt;!-- start of the widget</p><p>Call <strong>us</strong>. a &lt;!-- b</p>',
    terminal: '<!-- start of the widget\n\nCall us. a <!-- b',
    spoken: '<!-- start of the widget\nCall us. a <!-- b',
    copied: '<!-- start of the widget\n\nCall **us**. a <!-- b',
  },
  {
    name: 'references',
    markdown: '9&ndash;17, 5&nbsp;&euro;, &#8364;&#x20ac; &rarr; &bogus; &amp;lt; `&amp;`',
    html: '<p>9–17, 5\u00a0€, €€ → &amp;bogus; &amp;lt; <code>&amp;amp;</code></p>',
    terminal: '9–17, 5\u00a0€, €€ → &bogus; &lt; &amp;',
    spoken: '9–17, 5 €, €€ → &bogus; &lt; &amp;',
    copied: '9&ndash;17, 5&nbsp;&euro;, &#8364;&#x20ac; &rarr; &bogus; &amp;lt; `&amp;`',
  },
  {
    name: 'references in addresses',
    markdown: '[A&amp;B](https://shop.test/?a=1&amp;b=2) ![&euro;](https://shop.test/&auml;)',
    html: '<p><a href="https://shop.test/?a=1&b=2">A&amp;B</a> <a href="https://shop.test/%C3%A4">€</a></p>',
    terminal: 'A&B <https://shop.test/?a=1&b=2> € <https://shop.test/ä>',
    spoken: 'A&B €',
    copied: '[A&amp;B](https://shop.test/?a=1&b=2) ![€](https://shop.test/ä)',
  },
  {
    name: 'an address before CJK punctuation',
    markdown: '見https://shop.test/wiki/北京。次 https://shop.test/a?b=1，谢谢（https://shop.test/c_(d)）',
    html: '<p>見<a href="https://shop.test/wiki/%E5%8C%97%E4%BA%AC">https://shop.test/wiki/北京</a>。次 <a href="https://shop.test/a?b=1">https://shop.test/a?b=1</a>，谢谢（<a href="https://shop.test/c_(d)">https://shop.test/c_(d)</a>）</p>',
    terminal: '見https://shop.test/wiki/北京。次 https://shop.test/a?b=1，谢谢（https://shop.test/c_(d)）',
    spoken: '見https://shop.test/wiki/北京。次 https://shop.test/a?b=1，谢谢（https://shop.test/c_(d)）',
    copied: '見https://shop.test/wiki/北京。次 https://shop.test/a?b=1，谢谢（https://shop.test/c_(d)）',
  },
  {
    name: 'an address within quotes',
    markdown: '“https://shop.test/a”, «www.shop.test», 「https://shop.test/b」',
    html: '<p>“<a href="https://shop.test/a">https://shop.test/a</a>”, «www.shop.test», 「<a href="https://shop.test/b">https://shop.test/b</a>」</p>',
    terminal: '“https://shop.test/a”, «www.shop.test», 「https://shop.test/b」',
    spoken: '“https://shop.test/a”, «www.shop.test», 「https://shop.test/b」',
    copied: '“https://shop.test/a”, «www.shop.test», 「https://shop.test/b」',
  },
  {
    name: 'emphasis beside CJK punctuation',
    markdown: 'これは**「重要」**です。**注意：**必ず*終わり。*次~~古い。~~新 **구문(괄호)**을',
    html: '<p>これは<strong>「重要」</strong>です。<strong>注意：</strong>必ず<em>終わり。</em>次<del>古い。</del>新 <strong>구문(괄호)</strong>을</p>',
    terminal: 'これは「重要」です。注意：必ず終わり。次~~古い。~~新 구문(괄호)을',
    spoken: 'これは「重要」です。注意：必ず終わり。次古い。新 구문(괄호)을',
    copied: 'これは**「重要」**です。**注意：**必ず*終わり。*次~~古い。~~新 **구문(괄호)**을',
  },
  {
    name: 'emphasis as other scripts have it',
    markdown: '**"a"**b 2 * 3 * 4 a*b*c snake_case_name',
    html: '<p>**"a"**b 2 * 3 * 4 a<em>b</em>c snake_case_name</p>',
    terminal: '**"a"**b 2 * 3 * 4 abc snake_case_name',
    spoken: '**"a"**b 2 * 3 * 4 abc snake_case_name',
    copied: '**"a"**b 2 * 3 * 4 a*b*c snake_case_name',
  },
  {
    name: 'tasks',
    markdown: '- [ ] Unpack &amp; **check**\n- [x] `Plug` in\n  - [ ] Lamp',
    html: '<ul><li dir="auto"><label><input> Unpack &amp; <strong>check</strong></label></li><li dir="auto"><label><input checked> <code>Plug</code> in</label><ul><li dir="auto"><label><input> Lamp</label></li></ul></li></ul>',
    terminal: '• [ ] Unpack & check\n• [x] Plug in\n      • [ ] Lamp',
    spoken: 'Unpack & check\nPlug in\nLamp',
    copied: '- [ ] Unpack &amp; **check**\n- [x] `Plug` in\n  - [ ] Lamp',
  },
  {
    name: 'tasks with paragraphs',
    markdown: '1. [ ] Unpack\n\n   Keep the box.\n\n2. [x] Plug in',
    html: '<ol start="1"><li dir="auto"><p><label><input> Unpack</label></p><p>Keep the box.</p></li><li dir="auto"><p><label><input checked> Plug in</label></p></li></ol>',
    terminal: '1. [ ] Unpack\n       Keep the box.\n2. [x] Plug in',
    spoken: 'Unpack\nKeep the box.\nPlug in',
    copied: '1. [ ] Unpack\n\n   Keep the box.\n\n2. [x] Plug in',
  },
  {
    name: 'line breaks in HTML',
    markdown: 'Main Street 1<br>\nNewtown<br><BR/>~\n<br>\n**x**',
    html: '<p>Main Street 1<br>Newtown<br><br>~<br><strong>x</strong></p>',
    terminal: 'Main Street 1\nNewtown\n\n~\nx',
    spoken: 'Main Street 1\nNewtown\n~\nx',
    copied: 'Main Street 1\nNewtown\n\n~\n**x**',
  },
  {
    name: 'a line break before Markdown',
    markdown: '<br>\n**bold**',
    html: '<p><br><strong>bold</strong></p>',
    terminal: '\nbold',
    spoken: 'bold',
    copied: '\n**bold**',
  },
  {
    name: 'line breaks in a table',
    markdown: '| a | b |\n|---|--:|\n| c<br>d | `e` |',
    html: '<div dir="auto"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>c<br>d</td><td><code>e</code></td></tr></tbody></table></div>',
    terminal: 'a: c\nd\nb: e',
    spoken: 'a, b\nc\nd, e',
    copied: '| a | b |\n| --- | --: |\n| c<br>d | `e` |',
  },
  {
    name: 'a list that begins at 0',
    markdown: '0. zero\n1. one\n\n7) seven',
    html: '<ol start="0"><li dir="auto">zero</li><li dir="auto">one</li></ol><ol start="7"><li dir="auto">seven</li></ol>',
    terminal: '0. zero\n1. one\n\n7. seven',
    spoken: 'zero\none\nseven',
    copied: '0. zero\n1. one\n\n7. seven',
  },
  {
    name: 'headings',
    markdown: '## a\n\n#### b\n\n# c\n\n> ### d',
    html: '<h3>a</h3><h4>b</h4><h3>c</h3><blockquote dir="auto"><h4>d</h4></blockquote>',
    terminal: 'a\n\nb\n\nc\n\n│ d',
    spoken: 'a\nb\nc\nd',
    copied: '## a\n\n#### b\n\n# c\n\n> ### d',
  },
  {
    name: 'HTML',
    markdown: '<p>Your parcel <b>4711</b> &amp; 5&nbsp;&lt;i&gt;</p>',
    html: '<p>&lt;p&gt;Your parcel &lt;b&gt;4711&lt;/b&gt; &amp; 5\u00a0&lt;i&gt;&lt;/p&gt;</p>',
    terminal: '<p>Your parcel <b>4711</b> & 5\u00a0<i></p>',
    spoken: 'Your parcel 4711 & 5 <i>',
    copied: '<p>Your parcel <b>4711</b> &amp; 5&nbsp;&lt;i&gt;</p>',
  },
  {
    name: 'text that looks like HTML',
    markdown: 'if a < b and c > d, 5 <3',
    html: '<p>if a &lt; b and c &gt; d, 5 &lt;3</p>',
    terminal: 'if a < b and c > d, 5 <3',
    spoken: 'if a < b and c > d, 5 <3',
    copied: 'if a < b and c > d, 5 <3',
  },
  {
    name: 'directions in code',
    markdown: '`a\u202eb`\n\n```ts HIDDEN\nc\u2066d\n```',
    html: '<p><code>ab</code></p><div><pre><code>cd</code></pre></div>',
    terminal: 'ab\n\n    cd',
    spoken: 'ab\ncd',
    copied: '`ab`\n\n```ts\ncd\n```',
  },
  {
    name: 'definitions and titles',
    markdown: '[a][b] [c](https://shop.test/c "HIDDEN")\n\n[b]: https://shop.test/b "HIDDEN"',
    html: '<p><a href="https://shop.test/b">a</a> <a href="https://shop.test/c">c</a></p>',
    terminal: 'a <https://shop.test/b> c <https://shop.test/c>',
    spoken: 'a c',
    copied: '[a](https://shop.test/b) [c](https://shop.test/c)',
  },
]
