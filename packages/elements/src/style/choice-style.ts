/** The styles of choices, loaded with them. */
export const CHOICE_STYLE = `
.panel-text.trouble { color: var(--_danger); }
.choices { display: flex; flex-direction: column; gap: 8px; inline-size: 100%; margin: 12px 0 0; padding: 0; list-style: none; text-align: start; }
.choice {
  display: flex;
  align-items: center;
  gap: 12px;
  inline-size: 100%;
  min-block-size: 56px;
  padding: 10px 14px;
  border: 1px solid var(--_control);
  border-radius: calc(var(--_radius) * 0.75);
  background: var(--_surface);
  text-align: start;
  transition: background-color 0.15s, border-color 0.15s;
}
.choice-text { flex: 1; min-inline-size: 0; overflow-wrap: anywhere; }
.choice b { display: block; font-weight: 600; line-height: 1.35; }
.choice span span { color: var(--_muted); font-size: 0.875em; line-height: 1.4; }
.choice > .icon { flex: none; color: var(--_muted); }
.choice .mark { flex: none; padding: 2px 8px; border-radius: 10px; background: var(--_soft); color: var(--_link); font-size: 0.78em; font-weight: 600; }
.field { inline-size: 100%; min-block-size: 44px; padding: 8px 14px; border: 1px solid var(--_control); border-radius: calc(var(--_radius) * 0.75); background: var(--_surface); }
@media (hover: hover) {
  .choice:hover { border-color: var(--_link); background: var(--_soft); }
}
@media (forced-colors: active) {
  .choice { border: 1px solid CanvasText; }
}
`
