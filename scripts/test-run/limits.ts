/** Gives a failed test a second try. CI sets it: a test that passes then is named at the end, and does not fail the run. */
const REPEAT_FAILED_TESTS = 'REPEAT_FAILED_TESTS'

/**
 * What holds for all tests. The limits are only for tests that hang, since property tests are slow on a busy machine. A test fails
 * if no expectation was checked: for example, where all of them are in a callback that never ran.
 */
export const limits = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 15_000 }, requireAssertions: true },
  retry: process.env[REPEAT_FAILED_TESTS] ? 1 : 0,
}
