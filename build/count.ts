/** Adds up vitest's JSON reports and prints the one line that tells how many tests passed, failed and were skipped. */
import { readFileSync } from 'node:fs'

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
}

// vitest's format.
const reports = process.argv.slice(2).map(file => JSON.parse(readFileSync(file, 'utf8')) as Report)
const sum = (key: keyof Report): number => reports.reduce((total, report) => total + report[key], 0)
console.log(`${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed, ${sum('numPendingTests')} skipped`)
