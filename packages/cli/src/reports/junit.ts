/** One case of a JUnit report. */
export interface JunitCase {
  /** Group of the case. */
  suite: string
  name: string
  seconds: number
  outcome: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped. */
  message?: string
}

/** A report in the form of JUnit, which every CI reads. */
export function junitReport(name: string, cases: readonly JunitCase[]): string {
  const suites = new Map<string, JunitCase[]>()
  for (const each of cases) suites.set(each.suite, [...(suites.get(each.suite) ?? []), each])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(name)}"${totals(cases)}>`,
    ...[...suites].flatMap(([suite, members]) => [
      `  <testsuite name="${escapeXml(suite)}"${totals(members)}>`,
      ...members.map(testcase),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function totals(cases: readonly JunitCase[]): string {
  const count = (outcome: JunitCase['outcome']) => cases.filter(each => each.outcome === outcome).length
  const seconds = cases.reduce((sum, each) => sum + each.seconds, 0)
  return ` tests="${cases.length}" failures="${count('failed')}" skipped="${count('skipped')}" time="${seconds.toFixed(3)}"`
}

function testcase({ suite, name, seconds, outcome, message = '' }: JunitCase): string {
  const head = `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}" time="${seconds.toFixed(3)}"`
  if (outcome === 'passed') return `${head}/>`
  const tag = outcome === 'failed' ? 'failure' : 'skipped'
  return `${head}><${tag} message="${escapeXml(message)}"/></testcase>`
}

/** Text for an attribute. Characters that XML does not allow are left out. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"\t\n\r]/g, character => `&#${character.charCodeAt(0)};`)
}
