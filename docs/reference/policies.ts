// The headers that the guide shows are those under which the tests of the chat element run.
import { strictPolicies } from '../../packages/elements/test/browser/policies.ts'

const { bundled, tagged, withConnector } = strictPolicies({
  connect: ['https://agents.example.test', 'wss://chat.agents.example.test'],
  nonce: 'R4nd0m',
  connector: 'https://connector.example.test',
})

const header = (policy: string) => `\`\`\`text\nContent-Security-Policy: ${policy}\n\`\`\``

/** The headers of a page with the chat, each with the sentence that says when. */
export function policyHeaders(): string {
  return [
    'With a bundle or a script from your own origin:',
    header(bundled),
    'With a script tag that has a nonce, which also covers what it loads:',
    header(tagged),
    'With a connector script (`initParams.platform`), allow its origin and the policy of that script:',
    header(withConnector),
  ].join('\n\n')
}
