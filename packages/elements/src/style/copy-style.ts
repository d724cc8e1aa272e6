/** The styles of the buttons that copy, loaded with them. */
export const COPY_STYLE = `
.copy { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 2px 6px; color: var(--_muted); }
.copy .icon-button { inline-size: 32px; block-size: 32px; }
.copy .trouble { color: var(--_danger); }
.rating .copy { flex-direction: row-reverse; }
.code-bar {
  display: flex;
  justify-content: flex-end;
  margin-block-start: 0.6em;
  padding: 2px;
  padding-inline: 12px 4px;
  border: 1px solid var(--_border);
  border-block-end: 0;
  border-radius: 10px 10px 0 0;
  background: var(--_canvas);
  font-size: 0.8125em;
}
.code-language { flex: 1; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; font-family: ui-monospace, monospace; }
[dir="rtl"] .code-language { text-align: right; }
.text .code-bar + .code { margin-block-start: 0; border-start-start-radius: 0; border-start-end-radius: 0; clip-path: inset(0 round 0 0 10px 10px); }
@media (pointer: coarse) {
  .copy .icon-button { inline-size: 40px; block-size: 40px; }
}
@media print {
  .copy .icon-button { display: none; }
}
`
