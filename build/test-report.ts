import { readFileSync } from 'node:fs'

/** The result of one test file in vitest's JSON report. */
export interface FileResult {
  /** The file, absolute. */
  readonly name: string
  readonly status: 'passed' | 'failed'
  /** When its first test began and its last one ended, in milliseconds since 1970. */
  readonly startTime: number
  readonly endTime: number
  readonly assertionResults: readonly { readonly status: 'passed' | 'failed' | 'pending' | 'skipped' | 'todo' }[]
}

/** Gives the results of the files of vitest's JSON report in a file. */
export const readReport = (file: string): readonly FileResult[] => {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as { testResults: readonly FileResult[] }
  return testResults
}
