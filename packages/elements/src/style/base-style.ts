/** Colours of the dark theme, used twice: where the system asks for it, and where the host app does. */
const DARK = `
  color-scheme: dark;
  --_surface: var(--aiagent-surface, #191d28);
  --_canvas: var(--aiagent-canvas, #11141c);
  --_text: var(--aiagent-text, #e9ecf4);
  --_muted: var(--aiagent-muted, #a3abbe);
  --_border: var(--aiagent-border, #2d3344);
  --_control: var(--aiagent-control, #7a839b);
  --_accent: var(--aiagent-accent, #4564ea);
  --_link: var(--aiagent-link, color-mix(in srgb, var(--_accent), #fff 55%));
  --_agent: var(--aiagent-agent-bubble, #232939);
  --_agent-text: var(--aiagent-agent-bubble-text, var(--_text));
  --_danger: var(--aiagent-danger, #ffb4ab);
  --_success: var(--aiagent-success, #6fd6a0);
  --_soft: color-mix(in srgb, var(--_accent), var(--_surface) 76%);
  --_shade: rgb(0 0 0 / 40%);`

/** What the element needs before the chat is loaded: sizes, colours, buttons, and the panel of the consent. */
export const BASE_STYLE = `
:host {
  color-scheme: light;
  --_surface: var(--aiagent-surface, #fff);
  --_canvas: var(--aiagent-canvas, #f5f6fa);
  --_text: var(--aiagent-text, #1a2033);
  --_muted: var(--aiagent-muted, #5a6378);
  --_border: var(--aiagent-border, #e0e4ee);
  --_control: var(--aiagent-control, #838ca1);
  --_accent: var(--aiagent-accent, #3556d8);
  --_accent-text: var(--aiagent-accent-text, #fff);
  --_link: var(--aiagent-link, var(--_accent));
  --_agent: var(--aiagent-agent-bubble, #fff);
  --_agent-text: var(--aiagent-agent-bubble-text, var(--_text));
  --_user: var(--aiagent-user-bubble, var(--_accent));
  --_user-text: var(--aiagent-user-bubble-text, var(--_accent-text));
  --_danger: var(--aiagent-danger, #b3261e);
  --_success: var(--aiagent-success, #18794a);
  --_soft: color-mix(in srgb, var(--_accent), var(--_surface) 90%);
  --_shade: rgb(26 32 51 / 12%);
  --_radius: var(--aiagent-radius, 16px);
  --_gap: var(--aiagent-gap, 16px);
  display: flex;
  flex-direction: column;
  position: relative;
  box-sizing: border-box;
  inline-size: 100%;
  block-size: 38rem;
  max-block-size: 100%;
  min-inline-size: 0;
  overflow: hidden;
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
  background: var(--_surface);
  color: var(--_text);
  font: var(--aiagent-font-size, 0.9375rem) / 1.5 var(--aiagent-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  text-align: start;
  container-type: inline-size;
  contain: layout style;
  -webkit-font-smoothing: antialiased;
}
:host([hidden]) { display: none; }
:host([theme="dark"]) {${DARK}
}
@media (prefers-color-scheme: dark) {
  :host(:not([theme="light"])) {${DARK}
  }
}
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
.button.primary:hover { filter: brightness(1.08); }
.button.plain { color: var(--_link); }
.button.plain:hover { background: var(--_soft); }
.button.outline { border-color: var(--_control); color: var(--_text); }
.button.outline:hover { border-color: var(--_link); background: var(--_soft); }
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
  max-inline-size: 30rem;
  margin: auto;
  padding: calc(var(--_gap) * 1.5);
  text-align: center;
}
.panel-title { margin: 0; font-size: 1.2em; line-height: 1.3; font-weight: 650; text-wrap: balance; }
.panel-text { margin: 0; color: var(--_muted); text-wrap: pretty; }
.panel-actions { display: flex; flex-wrap: wrap; justify-content: center; gap: 8px; margin-block-start: 12px; }
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }
}
@media (forced-colors: active) {
  .button { border-color: ButtonText; }
  .button.primary { forced-color-adjust: none; background: ButtonText; color: ButtonFace; border-color: ButtonText; }
  :focus-visible { outline-color: Highlight; }
}
`
