/** The styles of the teaser: a bubble of at most two lines beside the button, which leaves the page free on a phone too. */
export const TEASER_STYLE = `
.teaser {
  position: absolute;
  inset-block-end: 4px;
  inset-inline: auto 72px;
  display: flex;
  align-items: center;
  inline-size: max-content;
  max-inline-size: min(20em, calc(100vw - 84px - 2 * var(--aiagent-launcher-offset, 20px)));
  min-block-size: 52px;
  padding-inline-start: 14px;
  box-sizing: border-box;
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
  background: var(--_surface);
  box-shadow: 0 6px 24px rgb(20 26 46 / 20%);
  color: var(--_text);
}
:host([position="start"]) .teaser { inset-inline: 72px auto; }
.line, .dismiss { background: none; color: inherit; }
.line {
  flex: 1;
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  overflow: hidden;
  margin-block: 6px;
  font-weight: 400;
  font-size: 0.875em;
  line-height: 1.35;
  text-align: start;
  overflow-wrap: anywhere;
}
.dismiss { flex: none; inline-size: 40px; block-size: 40px; border-radius: 50%; color: var(--_muted); }
.dismiss svg { inline-size: 18px; vertical-align: middle; }
@media (forced-colors: active) { .teaser { border-color: CanvasText; } }
`
