/** Prints where the time of a run of the tests went, of vitest's JSON report: the seconds of each folder, and of the files that took the longest. */
import { dirname, relative } from 'node:path'
import { readReport } from './test-report.ts'

const shown = 15
const [report = ''] = process.argv.slice(2)
const files = readReport(report).map(({ name, startTime, endTime }) => ({
  file: relative('.', name),
  seconds: (endTime - startTime) / 1000,
}))
const byFolder = Map.groupBy(files, ({ file }) => dirname(file).split('/').slice(0, 3).join('/'))
const folders = [...byFolder].map(([file, inside]) => ({
  file: `${file}, ${inside.length} files`,
  seconds: inside.reduce((sum, { seconds }) => sum + seconds, 0),
}))
for (const rows of [folders, files])
  for (const { file, seconds } of rows.toSorted((a, b) => b.seconds - a.seconds).slice(0, shown))
    console.log(`${seconds.toFixed(0).padStart(6)} s  ${file}`)
