/** Colours of the chat by theme, beside those that it shares with the launcher. */
export const CHAT_COLOURS = `
  --_canvas: var(--aiagent-canvas, light-dark(#f5f6fa, #11141c));
  --_control: var(--aiagent-control, light-dark(#838ca1, #7a839b));
  --_link: var(--aiagent-link, light-dark(var(--_firm), var(--_pale)));
  --_agent: var(--aiagent-agent-bubble, light-dark(#fff, #232939));
  --_danger: var(--aiagent-danger, light-dark(#b3261e, #ffb4ab));
  --_success: var(--aiagent-success, light-dark(#18794a, #6fd6a0));
  --_soft: light-dark(var(--_tint), var(--_dim));
  --_shade: light-dark(#1a20331f, #0006);
`

/**
 * What the element needs before the chat is loaded: sizes, buttons, and the panel of the consent. What is before the content of the frame gives
 * it a height where that of the element is not known.
 */
export const BASE_STYLE = `
:host {
  display: flex;
  flex-direction: column;
  box-sizing: border-box;
  inline-size: 100%;
  block-size: max(608px, 38em);
  max-block-size: 100%;
  min-inline-size: 0;
  font-size: medium;
}
.frame {
  --_firm: var(--_deep, var(--_accent));
  --_pale: color-mix(in srgb, var(--_accent), #fff 60%);
  --_tint: color-mix(in srgb, var(--_accent), var(--_surface) 90%);
  --_dim: color-mix(in srgb, var(--_accent), var(--_surface) 76%);
  --_user: var(--aiagent-user-bubble, var(--_accent));
  --_gap: var(--aiagent-gap, 16px);
  position: relative;
  display: block;
  flex: auto;
  box-sizing: border-box;
  inline-size: 100%;
  block-size: 100%;
  min-inline-size: 0;
  min-block-size: 0;
  overflow: clip;
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
  background: var(--_surface);
  contain: layout style;
  contain-intrinsic-inline-size: 25em;
  container-type: inline-size;
}
.frame::before { content: ""; display: block; inline-size: 0; block-size: 38em; }
.frame > * { font-size: var(--aiagent-font-size, 0.9375em); }
.frame > :not(.sr) { position: absolute; inset: 0; }
*, ::before, ::after { box-sizing: border-box; }
button, input, textarea { font: inherit; color: inherit; letter-spacing: inherit; }
button { cursor: pointer; }
:focus-visible { outline: 2px solid var(--_link); outline-offset: 2px; }
[tabindex="-1"]:focus { outline: none; }
.sr {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  margin: -1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
.button {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  gap: 8px;
  min-block-size: 44px;
  padding: 8px 20px;
  border: 1px solid transparent;
  border-radius: calc(var(--_radius) * 0.75);
  background: none;
  font-weight: 600;
  text-decoration: none;
  transition: background-color 0.15s, border-color 0.15s, filter 0.15s;
}
.button.primary { background: var(--_accent); color: var(--_accent-text); }
.button.plain { color: var(--_link); }
.button.outline { border-color: var(--_control); color: var(--_text); }
.panel {
  display: flex;
  flex-direction: column;
  flex: 1;
  min-block-size: 0;
  overflow: auto;
  background: var(--_surface);
}
.panel-body {
  display: flex;
  flex-direction: column;
  align-items: center;
  gap: 8px;
  inline-size: 100%;
  max-inline-size: 32em;
  margin: auto;
  padding: calc(var(--_gap) * 1.5);
  text-align: center;
}
.panel-title { margin: 0; font-size: 1.2em; line-height: 1.3; font-weight: 650; text-wrap: balance; }
.panel-text { margin: 0; color: var(--_muted); text-wrap: pretty; }
.panel-actions { display: flex; flex-wrap: wrap; justify-content: center; gap: 8px; margin-block-start: 12px; }
@media (hover: hover) {
  .button.primary:hover { filter: brightness(1.08); }
  .button.plain:hover { background: var(--_soft); }
  .button.outline:hover { border-color: var(--_link); background: var(--_soft); }
}
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }
}
@media (forced-colors: active) {
  .button { border-color: ButtonText; }
  .button.primary { forced-color-adjust: none; background: ButtonText; color: ButtonFace; border-color: ButtonText; }
  :focus-visible { outline-color: Highlight; }
}
`
