/** The styles of the chat, loaded with it. */
export const CHAT_STYLE = `
.chat { display: flex; flex-direction: column; }
.header {
  display: flex;
  align-items: center;
  padding-block: 10px;
  padding-inline: 16px 8px;
  min-block-size: 60px;
  border-block-end: 1px solid var(--_border);
  background: var(--_surface);
  z-index: 2;
}
.avatar {
  display: grid;
  place-items: center;
  flex: none;
  margin-inline-end: 12px;
  inline-size: 38px;
  block-size: 38px;
  border-radius: 50%;
  background: var(--_accent);
  color: var(--_accent-text);
}
.avatar img, .avatar ::slotted(*) { inline-size: 100%; block-size: 100%; border-radius: 50%; object-fit: cover; }
.heading { flex: 1; display: flex; flex-wrap: wrap; min-inline-size: 0; }
.heading > * { unicode-bidi: plaintext; }
[dir="rtl"] .heading > * { text-align: right; }
.heading h2 {
  order: -2;
  flex: 0 0 100%;
  margin: 0;
  font-size: 1.0625em;
  font-weight: 650;
  line-height: 1.3;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
}
.subtitle, .status { margin: 0; color: var(--_muted); font-size: 0.8125em; line-height: 1.35; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.subtitle { flex: 1 1 0; min-inline-size: 6em; }
.status { order: -1; display: flex; align-items: center; gap: 6px; margin-inline-end: 8px; }
.status::before { content: ""; flex: none; inline-size: 8px; block-size: 8px; border-radius: 50%; background: var(--_control); }
.status.connected::before { background: var(--_success); }
.icon-button, .send {
  display: grid;
  place-items: center;
  flex: none;
  inline-size: 40px;
  block-size: 40px;
  padding: 0;
  border: 0;
  border-radius: 50%;
}
.icon-button {
  background: none;
  color: var(--_muted);
  transition: background-color 0.15s, color 0.15s;
}
.icon { inline-size: 20px; block-size: 20px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
.small .icon { inline-size: 16px; block-size: 16px; }
[dir="rtl"] .icon.turns { transform: scaleX(-1); }
.menu { position: relative; }
.menu-list {
  position: absolute;
  inset-block-start: 100%;
  inset-inline-end: 0;
  z-index: 5;
  display: flex;
  flex-direction: column;
  inline-size: max-content;
  max-inline-size: min(20em, 85cqi);
  margin-block-start: 4px;
  padding: 6px;
  border: 1px solid var(--_border);
  border-radius: 12px;
  background: var(--_surface);
  box-shadow: 0 8px 28px var(--_shade);
}
.menu-list button {
  display: flex;
  align-items: center;
  gap: 10px;
  min-block-size: 42px;
  padding: 8px 10px;
  border: 0;
  border-radius: 8px;
  background: none;
  text-align: start;
}
.menu-list .icon { color: var(--_muted); }
.menu-list p { margin: 6px 10px; }
.body { position: relative; display: flex; flex-direction: column; flex: 1; min-block-size: 0; background: var(--_canvas); }
.log {
  flex: 1;
  min-block-size: 0;
  display: flex;
  flex-direction: column;
  overflow-y: auto;
  overscroll-behavior: contain;
  padding: var(--_gap);
  scrollbar-width: thin;
  scrollbar-color: var(--_border) transparent;
}
.log:focus-visible { outline-offset: -3px; }
.log:not(:last-child) { border-block-end: 1px solid var(--_border); }
.rows { flex: none; margin: auto 0 0; padding: 0; list-style: none; }
.rows.blank { margin-block: auto; }
.row {
  display: flex;
  flex-direction: column;
  align-items: flex-start;
  margin-block-start: 4px;
}
.group { display: flow-root; }
.skipped { content-visibility: auto; overflow-clip-margin: 8px; }
.row.first { margin-block-start: 16px; }
.row.user { align-items: flex-end; }
.row.new { animation: appear 0.22s ease-out; }
@keyframes appear { from { opacity: 0; transform: translateY(6px); } }
.by { margin: 0 4px 4px; color: var(--_muted); font-size: 0.8em; }
.by .name { font-weight: 600; color: var(--_text); }
.bubble {
  max-inline-size: min(100% - var(--_beside, 28px), 36em);
  padding: 10px 14px;
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
  border-end-start-radius: 5px;
  background: var(--_agent);
  color: var(--aiagent-agent-bubble-text, var(--_text));
  overflow-wrap: anywhere;
}
.colleague .bubble { border-inline-start: 3px solid var(--_link); }
.user .bubble {
  --_beside: 44px;
  border-color: transparent;
  border-end-start-radius: var(--_radius);
  border-end-end-radius: 5px;
  background: var(--_user);
  color: var(--_user-text);
  white-space: pre-wrap;
}
.user .bubble:is(.queued, .cancelled) { border: 1px dashed var(--_control); background: color-mix(in srgb, var(--_user), var(--_canvas) 82%); color: var(--_text); }
.user .bubble.cancelled { text-decoration: line-through; }
.masked {
  padding: 0 5px;
  border-radius: 5px;
  box-shadow: inset 0 0 0 1px color-mix(in srgb, currentColor 65%, transparent);
  font-family: ui-monospace, monospace;
  font-size: 0.92em;
}
.below { display: flex; flex-wrap: wrap; align-items: center; gap: 2px 6px; margin: 3px 4px 0; color: var(--_muted); font-size: 0.8em; }
.user .below { justify-content: flex-end; }
.below .link-button { margin-inline-end: -6px; }
.below .icon { inline-size: 15px; block-size: 15px; }
.below.trouble { color: var(--_danger); }
.link-button {
  min-block-size: 28px;
  padding: 2px 6px;
  border: 0;
  border-radius: 6px;
  background: none;
  color: var(--_link);
  font-weight: 600;
  text-decoration: underline;
  text-underline-offset: 2px;
}
.link-button[aria-disabled="true"] { color: var(--_muted); cursor: default; }
.rating { display: flex; align-items: center; gap: 2px; margin-block-start: 2px; color: var(--_muted); font-size: 0.875em; }
.rating .icon-button { inline-size: 32px; block-size: 32px; }
.rating > span:not(.copy) { margin-inline-start: 4px; }
.down .icon, .to-end .icon { rotate: 180deg; }
.rating [aria-pressed="true"] { background: var(--_soft); color: var(--_link); }
.rating [aria-pressed="true"] .icon { fill: color-mix(in srgb, currentColor 25%, transparent); }
.text p, .text ul, .text ol, .text .code, .text blockquote, .text .table { margin-block: 0.6em; }
.text h3, .text h4, .text h5, .text h6 { margin-block: 0.9em 0.35em; font-size: 1.03em; line-height: 1.35; font-weight: 650; }
.text > :first-child { margin-block-start: 0; }
.text > :last-child { margin-block-end: 0; }
.text :is(p, h3, h4, h5, h6, li, th, td), .user .bubble, .sources li > * { unicode-bidi: plaintext; text-align: start; }
.text ul, .text ol { padding: 0; }
.text li { margin-inline-start: 1.35em; }
.text ul > .task { list-style: none; }
.task input {
  appearance: none;
  inline-size: 1em;
  block-size: 1em;
  margin: 0 0.05em;
  margin-inline-start: -1.3em;
  border: 1.5px solid var(--_muted);
  border-radius: 4px;
  vertical-align: -0.15em;
}
.task :checked::before { content: "✓"; display: block; font: bold 0.8em/1 system-ui; text-align: center; }
.text li + li { margin-block-start: 0.4em; }
.text li > :is(p, ul, ol) { margin-block: 0.25em; }
.text a, .sources a { color: var(--_link); text-underline-offset: 2px; }
.plain, .piece { white-space: pre-wrap; }
.piece { display: block; content-visibility: auto; contain-intrinsic-size: auto 36em auto 110em; }
.text code { direction: ltr; unicode-bidi: isolate; padding: 1px 5px; border-radius: 5px; background: color-mix(in srgb, currentColor 9%, transparent); font: 0.88em ui-monospace, SFMono-Regular, Menlo, monospace; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.text .code { --_under: var(--_canvas); clip-path: inset(0 round 10px); outline-offset: -3px; padding: 10px 12px; border: 1px solid var(--_border); border-radius: 10px; direction: ltr; text-align: left; }
.text pre { margin: 0; }
.text pre code { padding: 0; background: none; overflow-wrap: normal; }
.text blockquote { margin-inline: 0; padding-inline-start: 12px; border-inline-start: 3px solid var(--_border); color: var(--_muted); }
.text hr { border: 0; border-block-start: 1px solid var(--_border); }
.text .table, .text .code {
  overflow-x: auto;
  background:
    linear-gradient(to right, var(--_under) 30%, transparent) left / 32px 100% no-repeat local,
    linear-gradient(to left, var(--_under) 30%, transparent) right / 32px 100% no-repeat local,
    linear-gradient(to right, var(--_shade), transparent) left / 12px 100% no-repeat,
    linear-gradient(to left, var(--_shade), transparent) right / 12px 100% no-repeat var(--_under);
}
.text .table { --_under: var(--_agent); }
.text table { inline-size: max-content; border-collapse: collapse; font-size: 0.95em; overflow-wrap: normal; }
.text th, .text td { max-inline-size: 28em; padding: 5px 10px; border: 1px solid var(--_border); vertical-align: top; }
.text th { background: var(--_canvas); font-weight: 650; }
.picture { display: block; max-inline-size: 100%; padding: 0; border: 0; border-radius: 10px; background: none; cursor: zoom-in; }
.text img { display: block; max-inline-size: 100%; block-size: auto; border-radius: 10px; }
.sources { margin-block-start: 8px; padding-block-start: 8px; border-block-start: 1px solid var(--_border); font-size: 0.875em; }
.sources h3 { margin: 0 0 2px; font-size: 0.92em; font-weight: 600; color: var(--_muted); }
.sources ul { margin: 0; padding: 0; list-style: none; }
.sources li { display: flex; align-items: baseline; gap: 6px; padding-block: 2px; }
.sources .icon { position: relative; inset-block-start: 2px; flex: none; inline-size: 14px; block-size: 14px; color: var(--_muted); }
.options { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0 2px; max-inline-size: 38em; }
.option {
  min-block-size: 40px;
  padding: 8px 16px;
  border: 1.5px solid var(--_link);
  border-radius: 20px;
  background: var(--_surface);
  color: var(--_link);
  font-weight: 500;
  line-height: 1.35;
  text-align: start;
  overflow-wrap: anywhere;
  transition: background-color 0.15s;
}
.option.past { display: inline-flex; align-items: center; gap: 6px; min-block-size: 32px; padding: 4px 12px; border: 1px solid var(--_border); color: var(--_muted); font-weight: 400; }
.option.past.chosen { border-color: var(--_link); color: var(--_text); }
.option .icon { inline-size: 15px; block-size: 15px; color: var(--_link); }
.escalation {
  max-inline-size: min(100%, 36em);
  margin-block-start: 8px;
  padding: 14px;
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
  background: var(--_surface);
}
.escalation h3 { display: flex; align-items: center; gap: 8px; margin: 0 0 8px; font-size: 1em; font-weight: 650; }
.escalation h3 .icon { color: var(--_link); }
.escalation p { margin: 0; color: var(--_muted); }
.escalation-ways { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.row > .escalation-ways { margin-block-end: 8px; }
.divider { display: flex; align-items: center; text-align: center; text-wrap: balance; gap: 12px; margin-block: 18px 2px; color: var(--_muted); font-size: 0.8em; }
.divider::before, .divider::after { content: ""; flex: 1; border-block-start: 1px solid var(--_border); }
.divider.unread { color: var(--_danger); font-weight: 650; }
.divider.unread::before, .divider.unread::after { border-color: currentColor; opacity: 0.5; }
.earlier { margin-block-end: 8px; text-align: center; }
.working { display: flex; gap: 5px; padding-block: 14px; }
.working i { inline-size: 7px; block-size: 7px; border-radius: 50%; background: var(--_muted); animation: work 1.2s infinite ease-in-out; }
.working i:nth-child(2) { animation-delay: 0.15s; }
.working i:nth-child(3) { animation-delay: 0.3s; }
@keyframes work { 0%, 60%, 100% { opacity: 0.35; transform: none; } 30% { opacity: 1; transform: translateY(-3px); } }
.to-end {
  align-self: center;
  flex: none;
  display: flex;
  align-items: center;
  gap: 8px;
  min-block-size: 40px;
  margin: 4px;
  padding: 6px 14px;
  border: 1px solid var(--_border);
  border-radius: 20px;
  background: var(--_surface);
  box-shadow: 0 4px 16px var(--_shade);
  font-size: 0.875em;
  font-weight: 600;
}
.empty { display: flex; flex-direction: column; align-items: center; gap: 6px; margin: auto; padding: 24px 16px; text-align: center; }
.empty .options { justify-content: center; margin-block-start: 12px; }
.panel-icon { display: grid; place-items: center; inline-size: 56px; block-size: 56px; margin-block-end: 8px; border-radius: 50%; background: var(--_soft); color: var(--_link); }
.panel-icon .icon { inline-size: 26px; block-size: 26px; }
.spinner { inline-size: 28px; block-size: 28px; border: 3px solid var(--_border); border-block-start-color: var(--_link); border-radius: 50%; animation: spin 0.9s linear infinite; }
@keyframes spin { to { rotate: 1turn; } }
.notice { display: flex; flex-wrap: wrap; align-items: center; gap: 0 10px; padding: 8px 16px; text-wrap: pretty; border-block-start: 1px solid var(--_border); background: var(--_soft); font-size: 0.875em; }
.notice > span { flex: 1 1 12em; }
.notice > .link-button { margin-inline-start: auto; }
.notice > .icon { flex: none; inline-size: 18px; block-size: 18px; }
.notice-actions { display: flex; flex-wrap: wrap; gap: 0 6px; margin-inline-start: -6px; }
.notice-actions > * { display: inline-flex; align-items: center; }
.notice.trouble { color: var(--_danger); background: color-mix(in srgb, var(--_danger), var(--_surface) 91%); }
.notice .icon-button { inline-size: 32px; block-size: 32px; margin-inline-end: -6px; color: inherit; }
.ended { gap: 10px; padding: 14px 16px; background: var(--_surface); text-align: center; }
.ended > div { flex: 1 1 19em; margin: 0; }
.ended b { display: block; font-size: 1.08em; font-weight: 650; }
.ended .button { padding-inline: 16px; }
.ended p { margin: 0; color: var(--_muted); }
.composer { padding: 10px 12px 12px; border-block-start: 1px solid var(--_border); background: var(--_surface); }
.composer-box {
  display: flex;
  align-items: flex-end;
  gap: 4px;
  padding: 4px;
  padding-inline-start: 14px;
  border: 1px solid var(--_control);
  border-radius: 26px;
  background: var(--_surface);
  transition: border-color 0.15s, box-shadow 0.15s;
}
.composer-box:focus-within { border-color: var(--_link); box-shadow: 0 0 0 1px var(--_link); }
.composer-box.excess { border-color: var(--_danger); box-shadow: 0 0 0 1px var(--_danger); }
.composer textarea {
  flex: 1;
  min-inline-size: 0;
  min-block-size: 40px;
  max-block-size: calc(9em + 16px);
  padding: 0;
  border: solid transparent;
  border-width: 8px 0;
  outline: 0;
  background: none;
  line-height: 1.5;
  resize: none;
  overflow-y: auto;
  field-sizing: content;
  scrollbar-width: thin;
}
.composer textarea::placeholder { color: var(--_muted); opacity: 1; }
.send {
  background: var(--_accent);
  color: var(--_accent-text);
  transition: background-color 0.15s, color 0.15s, filter 0.15s;
}
.send[aria-disabled="true"] { background: var(--_soft); color: var(--_muted); cursor: default; }
.composer-hint { margin: 6px 6px 0; color: var(--_muted); font-size: 0.8em; }
.composer-hint.trouble { color: var(--_danger); }
@media (hover: hover) {
  .icon-button:hover { background: var(--_soft); color: var(--_text); }
  .menu-list button:hover, .link-button:hover, button.option:hover { background: var(--_soft); }
  .to-end:hover { border-color: var(--_link); }
  .send:not([aria-disabled="true"]):hover { filter: brightness(1.08); }
}
@media (max-height: 30rem) {
  .composer textarea { max-block-size: calc(4.5em + 16px); }
}
@media (max-height: 20rem) {
  .chat { overflow: auto; }
  .body { min-block-size: 96px; }
  .header { min-block-size: 0; padding-block: 2px; }
  .composer { padding-block: 4px; }
  .to-end { position: absolute; inset-block-end: 0; inset-inline-end: 0; }
  .composer textarea { max-block-size: calc(3em + 16px); }
}
@container (max-width: 22em) {
  .header { padding-inline: 12px 4px; }
  .log { padding: 12px; }
  .bubble { --_beside: 8px; }
  .user .bubble { --_beside: 20px; }
}
@media (pointer: coarse) {
  .composer textarea { font-size: max(16px, 1em); }
  .rating .icon-button { inline-size: 40px; block-size: 40px; }
  .link-button { min-block-size: 36px; }
}
@media (prefers-reduced-motion: reduce) {
  .working i { opacity: 0.7; }
}
@media (forced-colors: active) {
  .bubble, .option, .composer-box, .send, .menu-list, .to-end { border: 1px solid CanvasText; }
  .user .bubble { border-style: double; border-width: 3px; }
  .send { border: 1px solid ButtonText; }
  .status::before, .working i { background: CanvasText; forced-color-adjust: none; }
  .rating [aria-pressed="true"] { outline: 2px solid Highlight; }
  .masked { outline: 1px dashed CanvasText; }
  .composer-box:focus-within { outline: 2px solid Highlight; }
  .composer textarea { border-color: Canvas; }
}
@media print {
  :host { min-block-size: min-content; }
  .frame { block-size: auto; overflow: visible; }
  .frame::before { display: none; }
  .frame > .chat { position: relative; }
  .frame { color-scheme: light !important; }
  .log, .text .table, .text .code { overflow: visible; background: none; clip-path: none; }
  .text table { inline-size: auto; overflow-wrap: anywhere; }
  .text :is(td, th) { min-inline-size: 4.5em; }
  .text pre code { white-space: pre-wrap; overflow-wrap: anywhere; }
  .user .bubble:not(.queued, .cancelled) { border-color: var(--_control); background: none; color: var(--_text); }
  .skipped, .piece { content-visibility: visible; }
  .composer, .rating, .menu, .to-end { display: none; }
}
`
