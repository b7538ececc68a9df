import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

const file = 'docs/full-run.md'
const head = `# The last full run

\`npm run full\` writes this file: what came of each file of long tests when it was last run, and on which commit.

| file | passed | failed | skipped | date | commit |
| --- | --- | --- | --- | --- | --- |
`

/** The rows that are there, by their first column: a file that was not run this time keeps its row. */
const rowsIn = (text: string): Map<string, string> =>
  new Map([...text.matchAll(/^\| (test\/[^|]+) \|.*$/gm)].map(match => [match[1]!, match[0]]))

const commitOf = (): string => {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  // The document itself is written by the run.
  const changed = git('status', '--porcelain', '--', '.', `:!${file}`)
  return git('rev-parse', '--short', 'HEAD') + (changed === '' ? '' : ' and changes')
}

const rowOf = (module: TestModule, now: string, commit: string): [string, string] => {
  const states = [...module.children.allTests()].map(one => one.result().state)
  const count = (state: string): number => states.filter(one => one === state).length
  // A file that could not be loaded has no tests to fail.
  const failed = count('failed') + (module.ok() || states.includes('failed') ? 0 : 1)
  // The listener repeats tests that may have a row of their own.
  const name = module.relativeModuleId + (module.project.name === 'listener' ? ' (listener)' : '')
  return [name, `| ${name} | ${count('passed')} | ${failed} | ${count('skipped')} | ${now} | ${commit} |`]
}

/** Writes the results into docs/full-run.md, a row for each file. */
export default class FullReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = rowsIn(existsSync(file) ? readFileSync(file, 'utf8') : '')
    const [now, commit] = [new Date().toISOString().slice(0, 10), commitOf()]
    for (const module of modules) rows.set(...rowOf(module, now, commit))
    mkdirSync('docs', { recursive: true })
    const order = (a: string, b: string): number => (a < b ? -1 : 1)
    const lines = [...rows.values()].sort(order)
    writeFileSync(file, `${head}${lines.join('\n')}\n`)
  }
}
