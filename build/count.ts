/**
 * Adds up vitest's JSON reports and prints the one line that tells how many tests passed, failed and were skipped. The
 * report of `--again` has the files that ran once more: its results count in place of their first ones.
 */
import { parseArgs } from 'node:util'
import { readReport } from './test-report.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { again: { type: 'string' } } })
const again = values.again === undefined ? [] : readReport(values.again)
const repeated = new Set(again.map(({ name }) => name))
const [whole = '', ...others] = positionals
const results = [
  ...readReport(whole).filter(({ name }) => !repeated.has(name)),
  ...again,
  ...others.flatMap(readReport),
].flatMap(file => file.assertionResults)
const passed = results.filter(({ status }) => status === 'passed').length
const failed = results.filter(({ status }) => status === 'failed').length
const unstable = repeated.size > 0 ? `; ${repeated.size} files ran once more: mend them` : ''
console.log(`${passed} passed, ${failed} failed, ${results.length - passed - failed} skipped${unstable}`)
