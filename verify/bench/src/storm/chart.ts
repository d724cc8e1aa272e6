const WIDTH = 900
const PANEL = 190
const LEFT = 84
const RIGHT = 20
const TOP = 44
const GAP = 54
const SHOWN_S = 240
const COLOURS = { line: '#5b6770', text: '#1c2429', outage: '#f3e5dc', without: '#b3541e', with: '#2e7d57' } as const

export interface StormPanel {
  title: string
  colour: 'without' | 'with'
  /** Attempts in each second. */
  perSecond: readonly number[]
}

/** Attempts per second, a panel for each way to wait, on the same scale; as SVG. */
export function stormChart(panels: readonly StormPanel[], outageS: number): string {
  const most = Math.max(...panels.flatMap(({ perSecond }) => perSecond.slice(0, SHOWN_S)))
  const height = TOP + panels.length * (PANEL + GAP)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    '<title>Reconnect attempts per second after the service was lost</title>',
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...panels.flatMap((panel, index) => drawPanel(panel, TOP + index * (PANEL + GAP), most, outageS)),
    '</svg>\n',
  ].join('\n')
}

function drawPanel({ colour, perSecond, title }: StormPanel, top: number, most: number, outageS: number): string[] {
  const bottom = top + PANEL
  const x = (second: number) => LEFT + (second / SHOWN_S) * (WIDTH - LEFT - RIGHT)
  const y = (count: number) => bottom - (count / most) * PANEL
  const shown = Array.from({ length: SHOWN_S }, (_, second) => perSecond[second] ?? 0)
  const path = shown
    .map((count, second) => `L${x(second).toFixed(1)} ${y(count).toFixed(1)}H${x(second + 1).toFixed(1)}`)
    .join('')
  return [
    `<rect x="${LEFT}" y="${top}" width="${(x(outageS) - LEFT).toFixed(1)}" height="${PANEL}" fill="${COLOURS.outage}"/>`,
    `<text x="${LEFT}" y="${top - 12}" fill="${COLOURS.text}" font-weight="bold">${title}</text>`,
    `<text x="${(x(outageS) - 6).toFixed(1)}" y="${top + 16}" text-anchor="end" fill="${COLOURS.line}">no service</text>`,
    ...[0, 0.5, 1].flatMap(share => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(share * most)}" y2="${y(share * most)}" stroke="${COLOURS.line}" stroke-width="0.5"/>`,
      `<text x="${LEFT - 8}" y="${y(share * most) + 4}" text-anchor="end" fill="${COLOURS.line}">${Math.round(share * most).toLocaleString('en')}</text>`,
    ]),
    ...Array.from({ length: SHOWN_S / 30 + 1 }, (_, index) => index * 30).map(
      second =>
        `<text x="${x(second).toFixed(1)}" y="${bottom + 18}" text-anchor="middle" fill="${COLOURS.line}">${second} s</text>`,
    ),
    `<path d="M${LEFT} ${bottom}${path}V${bottom}Z" fill="${COLOURS[colour]}"/>`,
  ]
}
