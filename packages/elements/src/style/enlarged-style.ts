/** The styles of an enlarged image, loaded with the first one. */
export const ENLARGED_STYLE = `
.frame > .enlarged {
  position: fixed;
  inline-size: 100%;
  block-size: 100%;
  max-inline-size: none;
  max-block-size: none;
  margin: 0;
  padding: 0;
  border: 0;
  background: #0b0d12e6;
  cursor: zoom-out;
  overscroll-behavior: contain;
}
.enlarged[open] { display: grid; place-items: center; grid-template: minmax(0, 1fr) / minmax(0, 1fr); }
.enlarged::backdrop { background: none; }
.enlarged img { max-inline-size: 100%; max-block-size: 100%; background: var(--_agent); }
.enlarged .icon-button { position: absolute; inset-block-start: 8px; inset-inline-end: 8px; background: #0b0d12; color: #fff; font-size: 18px; line-height: 1; }
.enlarged .icon-button:focus-visible { outline-color: #fff; }
@media (prefers-reduced-motion: no-preference) {
  .enlarged[open] { animation: enlarge 0.15s ease-out; }
}
@keyframes enlarge { from { opacity: 0; transform: scale(0.96); } }
@media (forced-colors: active) {
  .frame > .enlarged { background: Canvas; }
  .enlarged .icon-button { border: 1px solid ButtonText; }
}
@media print {
  .enlarged[open] { display: none; }
}
`
