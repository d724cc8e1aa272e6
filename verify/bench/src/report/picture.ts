import type { Figure } from '../figure.ts'
import { number, words } from './table.ts'

const WIDTH = 900
const NAMES = 290
const BARS = 400
const ROW = 26
const TOP = 56
/** The share at which the scale ends; what is above it is cut off there. */
const LARGEST_SHARE = 3
const COLOURS = { met: '#2e7d57', missed: '#b3541e', line: '#5b6770' } as const

/**
 * A picture of the figures that have a goal, as SVG. The length of a bar says how much of the goal is used up, so that
 * all goals, for ratios, times and sizes alike, stand on one line; a bar that crosses it misses its goal.
 */
export function picture(figures: readonly Figure[]): string {
  const judged = figures.filter(({ goal }) => goal !== undefined)
  const height = TOP + judged.length * ROW + 18
  const goalAt = NAMES + BARS / LARGEST_SHARE
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    '<title>Measured figures beside their goals</title>',
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="${goalAt}" y="24" text-anchor="middle" fill="${COLOURS.line}">goal</text>`,
    `<text x="${NAMES}" y="44" fill="${COLOURS.line}">← better</text>`,
    ...judged.flatMap((figure, index) => row(figure, TOP + index * ROW)),
    `<line x1="${goalAt}" x2="${goalAt}" y1="30" y2="${height - 12}" stroke="${COLOURS.line}" stroke-dasharray="4 3"/>`,
    '</svg>\n',
  ].join('\n')
}

function row(figure: Figure, y: number): string[] {
  const { name, value, unit, goal, met } = figure
  const length = (Math.min(shareUsed(figure), LARGEST_SHARE) / LARGEST_SHARE) * BARS
  const said = `${number(value)} ${unit}${goal ? ` (${words(goal)})` : ''}`
  return [
    `<text x="${NAMES - 10}" y="${y + 14}" text-anchor="end" fill="#1c2429">${escaped(name)}</text>`,
    `<rect x="${NAMES}" y="${y + 2}" width="${Math.max(1, length).toFixed(1)}" height="16" rx="2" fill="${
      met ? COLOURS.met : COLOURS.missed
    }"/>`,
    `<text x="${NAMES + BARS + 12}" y="${y + 14}" fill="#1c2429">${escaped(said)}</text>`,
  ]
}

function shareUsed({ value, goal }: Figure): number {
  if (!goal) return 0
  if (goal.kind === 'at most') return value / goal.value
  return value > 0 ? goal.value / value : Number.POSITIVE_INFINITY
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
