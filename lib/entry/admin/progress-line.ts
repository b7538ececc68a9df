import { styleText } from 'node:util'
import type { JobStep } from '#lib/jobs/schemas.ts'
import { byteSize } from '#lib/byte-size.ts'
import { visible } from './text-table.ts'

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
const fitting = ([first = '', ...more]: readonly string[], room: number): string => {
  const parts = [first.slice(0, room), ...more]
  const lengths = parts.map((_, at) => parts.slice(0, at + 1).join('  ').length)
  return parts.slice(0, lengths.filter(length => length <= room).length).join('  ')
}

/** How far a step under way is, in words. */
export const farText = (step: JobStep): string =>
  [step.has_percentage ? `${Math.floor(step.current_percentage)}%` : 'under way', ...amounts(step)].join(', ')

/** What came of a step in numbers, where it had any. */
const outcomes = ({ state, unit, total, rate }: JobStep): readonly string[] => {
  if (state !== 'completed' || unit !== 'bytes' || total === undefined) return []
  return [byteSize(total), ...(rate === undefined ? [] : [`at ${byteSize(rate)}/s`])]
}

/** How a step has ended, in words. */
export const endText = (step: JobStep): string => {
  const end = step.state === 'completed' ? 'done' : step.state === 'failed' && 'failed'
  return visible([end, outcomes(step).join(' '), step.message].filter(Boolean).join(', '))
}

/** What the lines of one job have in common. */
export interface Layout {
  /** Of the terminal: no line is longer, for what wraps cannot be drawn again in its place. */
  readonly columns: number
  readonly titles: number
  readonly paint: (color: 'cyan' | 'dim' | 'green' | 'red', text: string) => string
}

const marks = {
  pending: ['dim', '·'],
  running: ['cyan', '▸'],
  completed: ['green', '✔'],
  failed: ['red', '✘'],
  skipped: ['dim', '–'],
} as const
const markOf = ({ state }: JobStep, paint: Layout['paint']): string => {
  const [color, mark] = marks[state]
  return paint(color, mark)
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
  const mark = markOf(step, paint)
  if (!step.has_percentage) return `${mark} ${title.slice(0, columns - 3)}`
  const percent = `${Math.floor(step.current_percentage)}%`.padStart(4)
  const numbers = [percent, ...amounts(step)]
  const width = Math.min(widest, columns - titles - forNumbers - 5)
  if (width < narrowest) return `${mark} ${fitting([title, ...numbers], columns - 3)}`
  const full = Math.round((step.current_percentage / 100) * width)
  const bar = paint('cyan', '━'.repeat(full)) + paint('dim', '─'.repeat(width - full))
  return `${mark} ${title.padEnd(titles)} ${bar} ${fitting(numbers, forNumbers)}`
}

/** A step that has ended. What there is to say of it is not cut: the line stays, so it may wrap. */
export const endedLine = (step: JobStep, { columns, titles, paint }: Layout): string => {
  const { display_name: title, message } = step
  const parts = outcomes(step)
  const isAlone = parts.length === 0 && message === undefined
  const wide = isAlone ? title : [title.padEnd(titles), ...parts].join(' ')
  const line = wide.length <= columns - 3 ? wide : fitting([title, ...parts], columns - 3)
  return `${markOf(step, paint)} ${line}${message === undefined ? '' : `  ${visible(message)}`}`
}
