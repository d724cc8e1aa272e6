import { adoptStyles } from './adopt-styles.ts'

/** Colours by theme. */
const COLOURS = `
  --_surface: var(--aiagent-surface, light-dark(#fff, #191d28));
  --_text: var(--aiagent-text, light-dark(#1a2033, #e9ecf4));
  --_muted: var(--aiagent-muted, light-dark(#5a6378, #a3abbe));
  --_border: var(--aiagent-border, light-dark(#e0e4ee, #2d3344));
  --_accent: var(--aiagent-accent, light-dark(#3556d8, #4564ea));
`

/** All looks start from their defaults; what hides an element stays the page's. */
const FRAME_STYLE = `
.frame {
  --_accent-text: var(--aiagent-accent-text, #fff);
  --_user-text: var(--aiagent-user-bubble-text, var(--_accent-text));
  --_radius: var(--aiagent-radius, 16px);
  all: initial;
  visibility: inherit;
  pointer-events: inherit;
  interactivity: inherit;
  color-scheme: inherit;
  color: var(--_text);
  font-family: var(--aiagent-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  line-height: 1.5;
  -webkit-font-smoothing: antialiased;
}
@supports (color: color(from red srgb-linear r g b)) {
  .frame {
    --_luminance: (0.2126 * r + 0.7152 * g + 0.0722 * b);
    --_white: clamp(0, (0.18 - var(--_luminance)) * 9999, 1);
    --_ink: srgb-linear var(--_white) var(--_white) var(--_white);
    --_less: min(1, 0.15 / max(var(--_luminance), 0.01));
    --_deep: color(from var(--_accent) srgb-linear calc(r * var(--_less)) calc(g * var(--_less)) calc(b * var(--_less)));
    --_accent-text: var(--aiagent-accent-text, color(from var(--_accent) var(--_ink)));
    --_user-text: var(--aiagent-user-bubble-text, var(--aiagent-accent-text, color(from var(--_user) var(--_ink))));
  }
}
@media (prefers-color-scheme: dark) { .undeclared { color-scheme: dark; } }
:host([theme="light"]) .frame { color-scheme: light; }
:host([theme="dark"]) .frame { color-scheme: dark; }
:host([hidden]), :host([hidden]) .frame { display: none; }
`

const PAIR = /light-dark\(([^,]*), ?((?:[^()]|\([^()]*\))*)\)/g

/** A rule for engines of 2023, which have no `light-dark()`: dark where `theme` or the system says so, whatever the page says. */
function withoutPairs(rule: string): string {
  const dark = rule.replace(PAIR, '$2')
  return `${rule.replace(PAIR, '$1')}:host([theme="dark"]) ${dark}
@media (prefers-color-scheme: dark) { :host(:not([theme="light"])) ${dark} }`
}

/**
 * The box that has the looks of an element: rules of the page reach the element itself, and win over those of `:host`.
 *
 * @param colours further colours of the element, by theme
 */
export function createFrame(root: ShadowRoot, colours = ''): HTMLElement {
  const rule = `.frame {${COLOURS}${colours}}`
  adoptStyles(root, (CSS.supports('color', 'light-dark(#000, #fff)') ? rule : withoutPairs(rule)) + FRAME_STYLE)
  const frame = document.createElement('div')
  frame.className = 'frame'
  return frame
}

/** Lets the theme follow the page where that names its colour schemes, else the system. */
export function followPage(frame: HTMLElement, element: HTMLElement): void {
  const isDeclared =
    getComputedStyle(element).colorScheme !== 'normal' || document.querySelector('meta[name="color-scheme"]') !== null
  // Forced colours have a scheme of the system.
  frame.classList.toggle('undeclared', !isDeclared || matchMedia('(forced-colors: active)').matches)
}
