// Who may import whom. The rooms of the client, from above to below; a file imports only from rooms below its own,
// and never from another room on its own level.
const CLIENT = '^packages/client/src'
const DECLARATIONS = '(?:config|check-config|session-id|init-params|events|errors|facts|scope|logger|version)[.]ts$'
const ROOMS = [
  [
    'index[.]ts$',
    'pkce[.]ts$',
    'msal[.]ts$',
    'unstorage[.]ts$',
    'react-native[.]ts$',
    'recorder(?:/|[.]ts$)',
    'doctor(?:/|[.]ts$)',
    'otel(?:/|[.]ts$)',
  ],
  ['ai-agent[.]ts$'],
  ['agent/'],
  ['tabs/'],
  ['contact-center/', 'resume/'],
  ['conversation/'],
  ['outbox/'],
  ['chat/'],
  ['log/'],
  // Masking loads its rules by a call of REST.
  ['masking/'],
  ['auth/', 'rest/'],
  // The platform's defaults hold a memory store, and a store takes a clock: one room in two folders.
  ['(?:storage|platform)/'],
  [`(?:util/|${DECLARATIONS})`],
]
const VIEW = '^packages/view/src'
const ELEMENTS = '^packages/elements/src'
const TESTS = '[.](?:test|test-d)[.]ts$'
const EMULATOR_ON_NODE = '^packages/emulator/src/node/'

/** A rule of the kind: these files must not import those. */
const forbid = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to })

module.exports = {
  forbidden: [
    forbid(
      'no-circle',
      'Two files that import each other have no order. A type alone may point back.',
      {},
      {
        circular: true,
        viaOnly: { dependencyTypesNot: ['type-only'] },
      },
    ),
    forbid(
      'no-circle-of-types',
      'Types have an order, too.',
      { path: '^packages/', pathNot: TESTS },
      { circular: true },
    ),
    forbid(
      'must-resolve',
      'An import that leads nowhere.',
      { path: '^(?:packages|apps|verify/(?!frameworks/)|examples|docs|scripts)/' },
      {
        couldNotResolve: true,
        pathNot: '^(?:#features|#websocket|react|react-dom/server|vue|solid-js|@angular/core)$',
      },
    ),

    // Between packages.
    forbid(
      'protocol-stands-alone',
      'The wire depends on nothing of ours.',
      { path: '^packages/protocol/src', pathNot: TESTS },
      { path: '^packages/', pathNot: '^packages/protocol/' },
    ),
    forbid(
      'client-knows-only-the-protocol',
      'Client and emulator agree through the protocol alone.',
      { path: CLIENT, pathNot: TESTS },
      { path: '^packages/', pathNot: '^packages/(?:client|protocol)/' },
    ),
    forbid(
      'emulator-knows-only-the-protocol',
      'Client and emulator agree through the protocol alone.',
      { path: '^packages/emulator/src', pathNot: TESTS },
      { path: '^packages/', pathNot: '^packages/(?:emulator|protocol)/' },
    ),
    forbid(
      'cli-uses-public-entries',
      'A command is built over what everyone can install.',
      { path: '^packages/cli/src', pathNot: TESTS },
      {
        path: '^packages/',
        pathNot:
          '^packages/(?:cli/|client/src/(?:index|pkce|recorder|doctor)[.]ts|emulator/src/(?:node/)?index[.]ts|protocol/src/index[.]ts)',
      },
    ),
    forbid(
      'testing-uses-public-entries',
      'The tests of hosts are built over the emulator alone: the client is what they test.',
      { path: '^packages/testing/src', pathNot: TESTS },
      {
        path: '^packages/',
        pathNot: '^packages/(?:testing/|emulator/src/(?:node/)?index[.]ts|(?:client|protocol)/src/index[.]ts)',
      },
    ),
    forbid(
      'testing-has-no-client',
      'It names types of the client, and runs the one of the host.',
      { path: '^packages/testing/src', pathNot: TESTS },
      { path: '^packages/client/', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'test-support-knows-nobody',
      'Test helpers know none of the packages they help to test.',
      { path: '^packages/test-support/src' },
      { path: '^packages/', pathNot: '^packages/test-support/' },
    ),
    forbid(
      'fleet-uses-the-public-entry',
      'A fleet is built over what every host can import.',
      { path: '^packages/fleet/src', pathNot: TESTS },
      { path: '^packages/', pathNot: '^packages/(?:fleet/|client/src/index[.]ts|protocol/src/index[.]ts)' },
    ),
    forbid(
      'elements-use-public-entries',
      'The elements are built over what every host can import.',
      { path: ELEMENTS, pathNot: TESTS },
      { path: '^packages/', pathNot: `^packages/(?:elements/|(?:client|protocol|view)/src/index[.]ts)` },
    ),
    forbid(
      'elements-load-the-chat-on-demand',
      'Before the consent, and before the first click, nothing but the shell of an element is loaded.',
      { path: `${ELEMENTS}/(?:[^/]+[.]ts$|consent/)`, pathNot: TESTS },
      {
        path: `${ELEMENTS}/(?:app|markdown)/|^packages/(?:client|view)/|node_modules/`,
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    ),
    forbid(
      'elements-markdown-knows-no-chat',
      'Markdown, texts and styles are below the chat.',
      { path: `${ELEMENTS}/(?:markdown|strings|style)/`, pathNot: TESTS },
      { path: `${ELEMENTS}/(?:app/|consent/|[^/]+[.]ts$)` },
    ),
    forbid(
      'packages-do-not-import-private-workspaces',
      'Examples, benches and docs use the packages, not the reverse.',
      // What builds a package may use the scripts.
      { path: '^packages/', pathNot: '/tsdown\\.config\\.mjs$' },
      { path: '^(?:apps|verify|examples|docs|scripts|tools)/' },
    ),
    forbid(
      'no-tests-in-sources',
      'What is shipped does not import a test or its helpers.',
      { path: '^packages/(?!test-support/)[^/]+/src', pathNot: TESTS },
      { path: [TESTS, '^packages/test-support/', '^packages/[^/]+/test/'] },
    ),

    // Inside the client, from above to below.
    ...ROOMS.flatMap((level, index) =>
      level.map(room => {
        const beside = level.filter(other => other !== room)
        const above = ROOMS.slice(0, index).flat()
        const forbidden = [...above, ...beside].map(other => `${CLIENT}/${other}`)
        return forbid(
          `client-room-${room.replace(/[^a-z-]/g, '')}`,
          'A room imports only rooms below its own.',
          {
            path: `${CLIENT}/${room}`,
            pathNot: [`${CLIENT}/(?:config|check-config|events|errors|facts|scope)[.]ts$`, TESTS],
          },
          { path: forbidden },
        )
      }),
    ),
    forbid(
      'client-declarations-name-types-only',
      'Options, events and errors name the types of the parts, and run none of their code.',
      { path: `${CLIENT}/(?:config|check-config|events|errors|facts|scope)[.]ts$` },
      { path: `${CLIENT}/(?:${ROOMS.slice(0, -1).flat().join('|')})`, dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'view-uses-the-public-entry',
      'The conversation view is built over what every host can import.',
      { path: VIEW, pathNot: TESTS },
      { path: '^packages/', pathNot: '^packages/(?:view/|client/src/index[.]ts$)' },
    ),
    forbid(
      'client-util-knows-nobody',
      'Utilities know nothing of the project.',
      { path: `${CLIENT}/util/`, pathNot: TESTS },
      { path: '^packages/', pathNot: `${CLIENT}/util/` },
    ),

    // What needs Node stays where Node is.
    forbid(
      'node-only-where-node-is',
      'Everything else also runs in a page.',
      {
        path: '^packages/(?:protocol|client|view|emulator)/src',
        pathNot: [EMULATOR_ON_NODE, '[.]node[.]ts$', TESTS],
      },
      { dependencyTypes: ['core'] },
    ),
    forbid(
      'server-dependencies-only-where-node-is',
      'These packages need Node.',
      {
        path: '^packages/(?:protocol|client|view|emulator)/src',
        pathNot: [EMULATOR_ON_NODE, '[.]node[.]ts$', TESTS],
      },
      { path: 'node_modules/(?:ws|@hono/node-server|@peculiar/x509|@types/node)/' },
    ),
    forbid(
      'emulator-core-is-below-node',
      'The core of the emulator works without its Node half.',
      { path: '^packages/emulator/src', pathNot: [EMULATOR_ON_NODE, TESTS] },
      { path: EMULATOR_ON_NODE },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(?:^|/)dist/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@aiagent/source', 'node', 'import', 'types', 'default'],
      extensions: ['.ts', '.mts', '.d.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}
