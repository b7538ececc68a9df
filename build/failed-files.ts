/** Prints the test files that failed in vitest's JSON report, one a line, relative to the current folder. */
import { relative } from 'node:path'
import { readReport } from './test-report.ts'

const [report = ''] = process.argv.slice(2)
const failed = readReport(report).filter(({ status }) => status === 'failed')
for (const file of new Set(failed.map(({ name }) => relative('.', name)))) console.log(file)
