/** The styles of the launcher: a round button, and the panel that the chat opens in. */
export const LAUNCHER_STYLE = `
:host {
  --_accent: var(--aiagent-accent, #3556d8);
  position: fixed;
  inset-block-end: var(--aiagent-launcher-offset, 20px);
  inset-inline-end: var(--aiagent-launcher-offset, 20px);
  z-index: var(--aiagent-launcher-z-index, 2147483000);
  font: 600 13px/1 var(--aiagent-font, system-ui, sans-serif);
}
:host([hidden]) { display: none; }
.launch {
  position: relative;
  display: grid;
  place-items: center;
  inline-size: 60px;
  block-size: 60px;
  margin-inline-start: auto;
  padding: 0;
  border: 0;
  border-radius: 50%;
  background: var(--_accent);
  color: var(--aiagent-accent-text, #fff);
  box-shadow: 0 6px 24px rgb(20 26 46 / 28%);
  cursor: pointer;
  transition: transform 0.15s, filter 0.15s;
}
.launch:hover { filter: brightness(1.08); transform: translateY(-1px); }
.launch:focus-visible { outline: 3px solid var(--_accent); outline-offset: 3px; }
svg { inline-size: 28px; block-size: 28px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
[aria-expanded="true"] .chat-icon, [aria-expanded="false"] .close-icon { display: none; }
.launch[aria-busy="true"] svg { opacity: 0.5; }
.badge {
  position: absolute;
  inset-block-start: -4px;
  inset-inline-end: -4px;
  min-inline-size: 22px;
  padding: 5px 6px;
  border: 2px solid #fff;
  border-radius: 13px;
  background: #c5221f;
  color: #fff;
  font-size: 12px;
}
.badge:empty { display: none; }
.panel {
  position: absolute;
  inset-block-end: calc(100% + 14px);
  inset-inline-end: 0;
  inline-size: min(25rem, calc(100vw - 2 * var(--aiagent-launcher-offset, 20px)));
  block-size: min(42rem, calc(100dvh - 60px - 14px - 2 * var(--aiagent-launcher-offset, 20px)));
  border-radius: var(--aiagent-radius, 16px);
  box-shadow: 0 16px 56px rgb(20 26 46 / 28%);
  font-weight: 400;
}
.panel[hidden] { display: none; }
.panel > ai-agent-chat { block-size: 100%; }
.failure {
  display: grid;
  place-content: center;
  justify-items: center;
  gap: 16px;
  block-size: 100%;
  border-radius: inherit;
  color-scheme: light dark;
  background: var(--aiagent-surface, Canvas);
  color: var(--aiagent-text, CanvasText);
  font-size: 16px;
  text-align: center;
}
.again { min-block-size: 44px; font: inherit; }
@media (max-width: 30rem) {
  .panel { position: fixed; inset: 0; inline-size: auto; block-size: 100dvh; border-radius: 0; z-index: 1; --aiagent-radius: 14px; }
  .panel > ai-agent-chat { border: 0; border-radius: 0; }
}
@media (prefers-reduced-motion: reduce) { .launch { transition: none; } }
@media (forced-colors: active) { .launch, .badge { border: 2px solid ButtonText; } }
`
