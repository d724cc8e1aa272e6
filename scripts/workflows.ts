// Checks the workflows of the hosted CI. A tag of an action can be moved to other code, a commit cannot; and a job that may
// publish must run no code of a dependency.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An action by the hash of its commit, with its version as a comment; or one of this repository. */
const PINNED = /^(?:\.\/\S*|[\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+)$/

/** Rights of a token with which something can be published or changed. */
const WRITE = /^\s+[\w-]+: write$|permissions: write-all/m

/** What a job with such a right may run. */
const PUBLISHING = /^(?:for name in [\w ]+; do|npm publish --ignore-scripts [^;&|`$]*\$name-\*\.tgz|done)$/

/** Problems of all workflows below a folder, each with file and line. */
export function workflowProblems(root: string): string[] {
  const folder = join(root, '.github', 'workflows')
  return readdirSync(folder)
    .filter(name => /\.ya?ml$/.test(name))
    .flatMap(name =>
      problemsOf(readFileSync(join(folder, name), 'utf8')).map(each => `.github/workflows/${name}:${each}`),
    )
}

/** Problems of one workflow: line and text. */
export function problemsOf(workflow: string): string[] {
  const [head = '', jobs = ''] = workflow.split(/^(?=jobs:)/m)
  const problems: string[] = []
  let line = head.split('\n').length
  for (const job of jobs.split(/^(?= {2}[\w-]+:)/m)) {
    const mayWrite = WRITE.test(head) || WRITE.test(job)
    let isBlock = false
    for (const text of job.split('\n').slice(0, -1)) {
      const [, used] = /^\s*(?:- )?["']?uses["']?:\s*(.*?)\s*$/.exec(text) ?? []
      if (used !== undefined && !PINNED.test(used))
        problems.push(`${line}: name the commit of the action and its version: owner/name@<40 digits> # v1.2.3`)
      const [, command] = /^\s*(?:- )?run:\s*(.*?)\s*$/.exec(text) ?? []
      if (command === undefined && /^\s*(?:- )?[\w-]+:/.test(text)) isBlock = false
      const ran = command === '|' ? '' : (command ?? (isBlock ? text.trim() : ''))
      if (command !== undefined) isBlock = command === '|'
      if (mayWrite && ran !== '' && !PUBLISHING.test(ran))
        problems.push(`${line}: a job that may publish runs nothing but \`npm publish\``)
      line++
    }
  }
  return problems
}
