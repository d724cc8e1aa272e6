/** The styles of the launcher: a round button, and the panel that the chat opens in. */
export const LAUNCHER_STYLE = `
:host { display: contents; }
.frame {
  position: fixed;
  inset-block-end: var(--aiagent-launcher-offset, 20px);
  inset-inline-end: var(--aiagent-launcher-offset, 20px);
  z-index: var(--aiagent-launcher-z-index, 2147483000);
  font-weight: 600;
  line-height: 1;
}
:host([position="start"]) .frame { inset-inline: var(--aiagent-launcher-offset, 20px) auto; --_start: 0; --_end: auto; }
button, dialog { border: 0; padding: 0; }
button { font: inherit; cursor: pointer; }
:focus-visible { outline: 3px solid var(--_deep, var(--_accent)); outline-offset: 3px; }
.launch {
  position: relative;
  display: grid;
  place-items: center;
  inline-size: 60px;
  block-size: 60px;
  margin-inline-start: auto;
  border-radius: 50%;
  background: var(--_accent);
  color: var(--_accent-text);
  box-shadow: 0 6px 24px rgb(20 26 46 / 28%);
  transition: transform 0.15s, filter 0.15s;
}
svg { inline-size: 28px; block-size: 28px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
[aria-expanded="true"] .chat-icon, [aria-expanded="false"] .close-icon { display: none; }
.launch[aria-busy="true"] svg { opacity: 0.5; }
.badge {
  position: absolute;
  inset-block-start: -4px;
  inset-inline-end: -4px;
  min-inline-size: 10px;
  padding: 5px 6px;
  border: 2px solid #fff;
  border-radius: 13px;
  background: #c5221f;
  color: #fff;
  font-size: 0.75em;
}
.badge:empty { display: none; }
.said { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
.panel {
  position: absolute;
  inset-block: auto calc(100% + 14px);
  inset-inline: var(--_start, auto) var(--_end, 0);
  max-inline-size: none;
  max-block-size: none;
  margin: 0;
  outline: 0;
  inline-size: min(25em, calc(100vw - 2 * var(--aiagent-launcher-offset, 20px)));
  block-size: min(42em, calc(100dvh - 60px - 14px - 2 * var(--aiagent-launcher-offset, 20px)));
  border-radius: var(--_radius);
  display: flex;
  flex-direction: column;
  isolation: isolate;
  background: var(--_surface);
  box-shadow: 0 16px 56px rgb(20 26 46 / 28%);
  color: var(--_text);
  font-weight: 400;
  animation: rise 0.2s;
}
@keyframes rise { from { opacity: 0; translate: 0 16px; } }
.panel:not([open]), [ready] ~ :is(.bar, .skeleton, .composer-box), .failure ~ .composer-box, .composer-box[hidden] { display: none; }
.panel > ai-agent-chat { position: absolute; inset: 0; block-size: auto; max-block-size: none; }
.panel > ai-agent-chat:not([ready])::part(frame) { border: solid transparent; border-width: 61px 0 0; background: none; }
.bar { position: relative; display: flex; align-items: center; padding: 10px; padding-inline: 16px 8px; border-block-end: 1px solid var(--_border); }
.title:not(:empty)::before { content: ""; display: inline-block; vertical-align: middle; inline-size: 38px; block-size: 38px; margin-inline-end: 12px; border-radius: 50%; background: var(--_border); }
.title { flex: 1; min-inline-size: 0; overflow: hidden; font-weight: 650; text-overflow: ellipsis; white-space: nowrap; }
.close { display: grid; place-items: center; inline-size: 40px; block-size: 40px; border-radius: 50%; background: none; color: var(--_muted); }
.close svg { inline-size: 20px; }
.skeleton { position: absolute; inset: 61px 0 0; z-index: -1; display: flex; flex-direction: column; gap: 12px; padding: 20px 16px; animation: wait 2s infinite alternate; }
.skeleton i { inline-size: 65%; block-size: 48px; border-radius: 16px; background: var(--_border); opacity: 0.5; }
.skeleton i:nth-child(2) { inline-size: 45%; margin-inline-start: auto; }
.composer-box { position: absolute; inset: auto 12px 12px; box-sizing: border-box; min-block-size: 50px; border: 1px solid var(--_muted); border-radius: 26px; background: var(--_surface); }
.composer-box:focus-within { outline: 2px solid var(--_deep, var(--_accent)); }
textarea { display: block; box-sizing: border-box; inline-size: calc(100% - 86px); margin-inline-start: 14px; padding: 12px 0; border: 0; background: none; color: var(--_text); font: inherit; font-size: max(16px, 1em); line-height: 1.5; resize: none; field-sizing: content; max-block-size: 7.5em; }
textarea:focus { outline: 0; }
@keyframes wait { to { opacity: 0.4; } }
.failure { position: relative; flex: 1; display: grid; place-content: center; justify-items: center; gap: 16px; border-radius: inherit; background: var(--_surface); text-align: center; }
.again { min-block-size: 44px; padding: 8px 20px; border-radius: 12px; background: var(--_accent); color: var(--_accent-text); font-weight: 600; }
@media (max-width: 30rem), (max-height: 30rem) {
  .panel { position: fixed; inset: 0; inline-size: auto; block-size: 100dvh; border-radius: 0; z-index: 1; --aiagent-radius: 14px; }
  .panel > ai-agent-chat::part(frame) { border: 0; border-radius: 0; }
}
@media (hover: hover) { .launch:hover { filter: brightness(1.08); transform: translateY(-1px); } }
@media print { .frame { display: none; } }
@media (prefers-reduced-motion: reduce) { .launch { transition: none; } .panel, .skeleton { animation: none; } }
@media (forced-colors: active) { .panel > ai-agent-chat:not([ready])::part(frame) { border-color: Canvas; }  .launch, .badge, .close, .again { border: 2px solid ButtonText; } }
`
