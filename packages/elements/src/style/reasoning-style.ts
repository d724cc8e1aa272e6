/** The styles of reasoning, loaded with it. */
export const REASONING_STYLE = `
.reasoning { margin-block-start: 8px; color: var(--_muted); font-size: 0.875em; }
.reasoning summary { cursor: pointer; }
.reasoning p { margin: 4px 0 0; white-space: pre-wrap; }
`
