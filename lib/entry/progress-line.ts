import { styleText } from 'node:util'
import type { JobStep } from '#lib/jobs/schemas.ts'
import { byteSize } from './byte-size.ts'

/** Characters of a bar. */
const [narrowest, widest] = [6, 32]
/** Characters of the numbers beside it: kept free, so that the bar does not move as they grow. */
const forNumbers = 50

const amounts = ({ unit, value, total, rate, eta }: JobStep): readonly string[] => {
  if (unit !== 'bytes' || value === undefined || total === undefined) return []
  return [
    `${byteSize(value)} of ${byteSize(total)}`,
    ...(rate === undefined ? [] : [`${byteSize(rate)}/s`]),
    ...(eta === undefined ? [] : [`${eta} left`]),
  ]
}

/** As many of the parts as there is room for, the first ones first: half a number would be another number. */
const fitting = (parts: readonly string[], room: number): string => {
  const lengths = parts.map((_, at) => parts.slice(0, at + 1).join('  ').length)
  return parts.slice(0, lengths.filter(length => length <= room).length).join('  ')
}

/** What came of a step in numbers, where it had any. */
export const amountOf = ({ unit, total, rate }: JobStep): string => {
  if (unit !== 'bytes' || total === undefined) return ''
  return byteSize(total) + (rate === undefined ? '' : ` at ${byteSize(rate)}/s`)
}

/** What the lines of one job have in common. */
export interface Layout {
  /** Of the terminal: no line is longer, for what wraps cannot be drawn again in its place. */
  readonly columns: number
  readonly titles: number
  readonly paint: (color: 'cyan' | 'dim' | 'green' | 'red', text: string) => string
}

export const layoutOf = (steps: readonly JobStep[], output: NodeJS.WriteStream): Layout => ({
  // Zero where the terminal does not say.
  columns: output.columns || 80,
  titles: Math.max(0, ...steps.filter(step => step.has_percentage).map(({ display_name: title }) => title.length)),
  // Without colors where the terminal has none, or its user wants none.
  paint: (color, text) => styleText(color, text, { stream: output }),
})

/** A step under way: its bar as wide as there is room, and none where that is too little. */
export const runningLine = (step: JobStep, { columns, titles, paint }: Layout): string => {
  const title = step.display_name
  if (!step.has_percentage) return `${paint('cyan', '▸')} ${title.slice(0, columns - 3)}`
  const percent = `${Math.floor(step.current_percentage)}%`.padStart(4)
  const numbers = [percent, ...amounts(step)]
  const width = Math.min(widest, columns - titles - forNumbers - 5)
  if (width < narrowest) return `${paint('cyan', '▸')} ${fitting([title, ...numbers], columns - 3)}`
  const full = Math.round((step.current_percentage / 100) * width)
  const bar = paint('cyan', '━'.repeat(full)) + paint('dim', '─'.repeat(width - full))
  return `${paint('cyan', '▸')} ${title.padEnd(titles)} ${bar} ${fitting(numbers, forNumbers)}`
}

/** A step that has ended. */
export const endedLine = (step: JobStep, { columns, titles, paint }: Layout): string => {
  const mark = step.state === 'failed' ? paint('red', '✘') : paint('green', '✔')
  const amount = step.state === 'failed' ? '' : amountOf(step)
  const line = amount === '' ? step.display_name : `${step.display_name.padEnd(titles)} ${amount}`
  return `${mark} ${line.slice(0, columns - 3)}`
}
